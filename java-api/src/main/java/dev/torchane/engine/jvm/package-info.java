/**
 * The embedded engine: turns a function into a plan (row range applied, groups fused, states updated in place, buffers laid
 * out by lifetime) and runs it on Vector API kernels, or their scalar twins, with a small pool of threads.
 *
 * <p>Every kernel keeps one rule: the bits of a result do not depend on how many rows are computed together, on the number
 * of threads, on where in a state a stream's columns lie, or on which form of the kernel ran. Reductions therefore have a
 * fixed order: linear layers add their products in the order of the inputs, one fused multiply-add each; sums over a row
 * are kept in {@link dev.torchane.engine.jvm.Lanes#COUNT} partial sums that are folded in halves.
 */
package dev.torchane.engine.jvm;
