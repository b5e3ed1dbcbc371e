/** Owns models in chunks: many programs, one after another, as one {@link dev.torchane.engine.LoadedProgram}. */
package dev.torchane.engine.chunks;
