package dev.torchane.weights;

import dev.torchane.TorchAneException;

/** A checkpoint cannot be used; {@link #fault()} says why. */
public final class CheckpointException extends TorchAneException {

    private static final int LONGEST = 1500;

    private final transient CheckpointFault fault;

    CheckpointException(CheckpointFault fault) {
        super(printable(fault.message()));
        this.fault = fault;
    }

    CheckpointException(CheckpointFault fault, Throwable cause) {
        super(printable(fault.message()), cause);
        this.fault = fault;
    }

    /** What is wrong with the checkpoint. */
    public CheckpointFault fault() {
        return fault;
    }

    /** Names come from the file, so they may be of any length and hold anything: control characters become '?'. */
    private static String printable(String message) {
        String cut = message.length() <= LONGEST
                ? message
                : message.substring(0, LONGEST / 2) + " [...] " + message.substring(message.length() - LONGEST / 2);
        return cut.replaceAll("\\p{Cntrl}", "?");
    }
}
