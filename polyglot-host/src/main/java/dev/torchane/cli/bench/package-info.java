/** {@code bench}: this library and its peers on the same work, in one run, in turns. */
package dev.torchane.cli.bench;
