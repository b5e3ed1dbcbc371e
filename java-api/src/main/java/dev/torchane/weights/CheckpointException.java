package dev.torchane.weights;

import dev.torchane.TorchAneException;

/** A checkpoint cannot be used; {@link #fault()} says why. */
public final class CheckpointException extends TorchAneException {

    private final transient CheckpointFault fault;

    CheckpointException(CheckpointFault fault) {
        super(fault.message());
        this.fault = fault;
    }

    CheckpointException(CheckpointFault fault, Throwable cause) {
        super(fault.message(), cause);
        this.fault = fault;
    }

    /** What is wrong with the checkpoint. */
    public CheckpointFault fault() {
        return fault;
    }
}
