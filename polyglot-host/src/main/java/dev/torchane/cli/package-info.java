/** The command line: a thin front to the façade and to the installer of the GraalPy environment. */
package dev.torchane.cli;
