package dev.torchane.engine.coreai;

import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.Operation;
import dev.torchane.program.TensorType;
import java.util.List;

/**
 * Refuses weights that the Neural Engine is known to compute wrong without saying so: int8 with a scale for each block of inputs
 * (apple/coreai-models#279: cosine 0.367), palettes of blocks of inputs (apple/coreai-torch#93).
 */
final class AneWeights {

    private AneWeights() {}

    static void check(Function function) {
        for (Operation operation : function.operations()) {
            String shared = switch (operation.kind()) {
                case "constexpr_blockwise_shift_scale" -> "scale";
                case "constexpr_lut_to_dense" -> "lut";
                default -> "";
            };
            if (shared.isEmpty()) {
                continue;
            }
            TensorType blocks = operation.input(shared).orElseThrow().type();
            TensorType data = operation
                    .input(shared.equals("lut") ? "indices" : "data")
                    .orElseThrow()
                    .type();
            boolean byInputs = blocks.shape().subList(1, data.rank()).stream().anyMatch(size -> size > 1);
            boolean known =
                    shared.equals("lut") || List.of(DType.INT8, DType.UINT8).contains(data.dtype());
            if (byInputs && known) {
                throw new TorchAneException("function '" + function.name() + "': the " + shared + " " + blocks + " of '"
                        + operation.output().name()
                        + "' has blocks of inputs, which the Neural Engine computes wrong: build for the target ane, with"
                        + " int8 or palettes by output channels, or choose other units");
            }
        }
    }
}
