/** Makers of tiny checkpoints for tests, of this module and of others. */
package dev.torchane.testing;
