/**
 * Core ML: writes the {@code .mlpackage} (an ML program and its weights) that Core ML loads on macOS and iOS before Core AI.
 * Packages are written anywhere and run on Apple's systems only.
 */
package dev.torchane.engine.coreml;
