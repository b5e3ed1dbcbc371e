/** The engine SPI: what loads a bundle and runs its functions, and the tensors and states that go in and out. */
package dev.torchane.engine;
