/** The build SPI: how the façade asks for a checkpoint to be turned into a bundle, and hears how far it has come. */
package dev.torchane.build;
