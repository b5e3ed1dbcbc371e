/**
 * The cache of built models on disk: keys, atomic installation, locks between processes, pruning. Knows nothing of what
 * is in an entry.
 */
package dev.torchane.cache;
