/** The façade: what a user of the library reads and calls first. */
package dev.torchane;
