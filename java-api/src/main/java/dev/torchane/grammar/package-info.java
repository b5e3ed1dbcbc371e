/**
 * Grammars over bytes (GBNF, regular expressions, choices, JSON and JSON schema) and the masks over a vocabulary that they
 * allow. Knows nothing of engines, of Python or of how tokens are made: a vocabulary is an array of byte strings.
 */
package dev.torchane.grammar;
