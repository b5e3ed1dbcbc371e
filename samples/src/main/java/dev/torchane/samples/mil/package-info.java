/**
 * Kernels for the Neural Engine written by hand, each a program that runs as it is: it builds MIL, runs it with results rounded as
 * fp16 hardware rounds them, and compares with the same computed in double precision.
 */
package dev.torchane.samples.mil;
