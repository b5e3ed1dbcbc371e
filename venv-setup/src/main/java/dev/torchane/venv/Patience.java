package dev.torchane.venv;

import java.time.Duration;

/**
 * How long to wait for a network.
 *
 * @param pause before the first repetition of a failed request; doubles with each
 * @param silence after which a connection that sends nothing is given up
 */
record Patience(Duration pause, Duration silence) {

    static final Patience USUAL = new Patience(Duration.ofSeconds(1), Duration.ofSeconds(60));
}
