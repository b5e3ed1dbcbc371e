/**
 * Checkpoints on disk: safetensors and GGUF files, memory-mapped, with their values in fp32 on request.
 *
 * <p>A file from elsewhere is not trusted: every size is checked before it is used, nothing is allocated because a header
 * asks for it, and what is wrong is a {@link dev.torchane.weights.CheckpointFault} that names the file.
 */
package dev.torchane.weights;
