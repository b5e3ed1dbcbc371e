package dev.torchane.diffusion;

import java.util.Optional;

/**
 * The models of a Stable Diffusion pipeline. Inputs and outputs are fp32, but for the ids, which are int32; {@code h} and {@code w}
 * are those of the latents, an eighth of the picture's.
 *
 * @param textEncoder {@code input_ids [1, tokens]} to {@code last_hidden_state [1, tokens, hidden]}
 * @param unet {@code sample [B, channels, h, w]}, {@code timestep [1]} and {@code encoder_hidden_states [B, tokens, hidden]} to
 *     {@code sample_out [B, channels, h, w]}; B is 2 with guidance and 1 without
 * @param vaeDecoder {@code z [1, channels, h, w]} to {@code sample [1, 3, height, width]} in −1 to 1
 * @param vaeEncoder {@code x [1, 3, height, width]} to {@code output [1, 2 · channels, h, w]}, means and log variances; for
 *     pictures made from pictures
 */
public record PipelineModels(
        TensorModel textEncoder, TensorModel unet, TensorModel vaeDecoder, Optional<TensorModel> vaeEncoder) {}
