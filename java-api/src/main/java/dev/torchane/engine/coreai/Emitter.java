package dev.torchane.engine.coreai;

import java.util.List;

/** Adds what one operation of MIL is in Core AI. */
@FunctionalInterface
interface Emitter {

    /** The operation's results, in order. */
    List<Ref> emit(OperationCall call);

    /** For operations of one result. */
    @FunctionalInterface
    interface One extends Emitter {

        Ref result(OperationCall call);

        @Override
        default List<Ref> emit(OperationCall call) {
            return List.of(result(call));
        }
    }
}
