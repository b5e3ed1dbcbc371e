/**
 * The program: Apple's MIL as immutable data, its text form, its weight file, and the bundle that holds them.
 *
 * <p>Typed SSA: a {@link dev.torchane.program.Program} has named functions over one weight file; a function is a list of
 * {@link dev.torchane.program.Operation}s in execution order. Programs hold standard operations only; what an engine
 * likes to see whole is a group of operations that share the {@code composite} attribute.
 */
package dev.torchane.program;
