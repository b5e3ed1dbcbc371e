/**
 * Apple's Core AI: programs become text of its IR, which a CPython beside Java assembles to {@code .aimodel} and runs. On macOS that is
 * Apple's runtime, elsewhere the reference interpreter that comes with {@code coreai-core}.
 */
package dev.torchane.engine.coreai;
