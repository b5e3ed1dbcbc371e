/**
 * The Python half: one GraalPy context in this process, typed interfaces in both directions, and the exporter that turns
 * checkpoints into bundles.
 *
 * <p>Only {@link dev.torchane.host.GraalPyExporter} is for others, and they find it with {@link java.util.ServiceLoader}.
 * The interfaces that Python code sees are public because interop asks for it; they are no API.
 */
package dev.torchane.host;
