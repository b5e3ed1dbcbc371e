package dev.torchane.engine.jvm;

import dev.torchane.TorchAneException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** All operations the engine knows, with what turns each into steps. */
final class StepTable {

    private static final Map<String, Consumer<OpContext>> TABLE = table();

    private StepTable() {}

    static boolean known(String kind) {
        return TABLE.containsKey(kind);
    }

    static void plan(OpContext context) {
        Consumer<OpContext> factory = TABLE.get(context.kind());
        if (factory == null) {
            throw new TorchAneException("the jvm engine does not know " + context.describe());
        }
        try {
            factory.accept(context);
        } catch (TorchAneException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new TorchAneException(context.describe() + " cannot be planned: " + e, e);
        }
    }

    private static Map<String, Consumer<OpContext>> table() {
        Map<String, Consumer<OpContext>> table = new HashMap<>();
        Elementwise.register(table);
        Activations.register(table);
        Layouts.register(table);
        Reductions.register(table);
        Products.register(table);
        Norms.register(table);
        Attention.register(table);
        States.register(table);
        Selections.register(table);
        Convolutions.register(table);
        Pooling.register(table);
        return Map.copyOf(table);
    }
}
