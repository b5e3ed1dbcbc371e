package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import dev.torchane.program.TensorType;
import java.util.List;

/**
 * A value of the text.
 *
 * @param name as it stands there, with its percent sign
 * @param type element type and shape
 */
record Ref(String name, TensorType type) {

    DType dtype() {
        return type.dtype();
    }

    List<Integer> shape() {
        return type.shape();
    }

    int rank() {
        return type.rank();
    }
}
