package dev.torchane.host;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.TorchAneException;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.FunctionCopy;
import dev.torchane.program.Literal;
import dev.torchane.program.Operation;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** A lowered chunk whose weights are names yet: {@link #bind} puts a checkpoint's into it, any number of times. */
record ChunkTemplate(Program program, Weights weights) {

    /**
     * A weight as Python describes it.
     *
     * @param source its name in the checkpoint
     * @param role as in {@link WeightSink#tensor}
     * @param factor that passes multiply it by
     * @param offset that they add then
     */
    record Described(String name, String source, String role, TensorType template, float factor, float offset) {

        boolean isChanged() {
            return factor != 1 || offset != 0;
        }
    }

    /** Stands for weights in templates: constants of a file that does not exist. */
    static final class Weights implements WeightConstants {

        private static final String FILE = "template";

        private final Map<String, Described> described = new LinkedHashMap<>();
        private final List<String> names = new ArrayList<>();

        /**
         * @param list what Python says of each weight
         * @param precision of the programs
         */
        Weights(JsonNode list, DType precision) {
            for (JsonNode each : list) {
                List<Integer> shape = new ArrayList<>();
                each.required("shape").forEach(axis -> shape.add(axis.asInt()));
                String name = each.required("name").asText();
                names.add(name);
                described.put(
                        name,
                        new Described(
                                name,
                                each.required("source").asText(),
                                each.required("role").asText(),
                                new TensorType(precision, shape),
                                (float) each.required("factor").asDouble(),
                                (float) each.required("offset").asDouble()));
            }
        }

        Described get(String name) {
            Described weight = described.get(name);
            if (weight == null) {
                throw new TorchAneException("the template has no weight '" + name + "'");
            }
            return weight;
        }

        Iterable<Described> all() {
            return described.values();
        }

        @Override
        public String resolve(String name) {
            return name;
        }

        @Override
        public Value emit(String name, FunctionBuilder function) {
            return function.constant(name, new Literal.Blob(get(name).template(), FILE, names.indexOf(name)));
        }

        Optional<String> nameOf(Operation operation) {
            return operation
                    .constant()
                    .filter(literal ->
                            literal instanceof Literal.Blob blob && blob.path().equals(FILE))
                    .map(literal -> names.get(Math.toIntExact(((Literal.Blob) literal).offset())));
        }
    }

    /** Names of the weights in it. */
    Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (Function function : program.functions()) {
            function.operations().forEach(operation -> weights.nameOf(operation).ifPresent(names::add));
        }
        return names;
    }

    /** Operations that its largest function has at most when weights are bound: each is up to three of them. */
    int operations() {
        return program.functions().stream()
                .mapToInt(function -> function.operations().size()
                        + 2
                                * (int) function.operations().stream()
                                        .filter(operation ->
                                                weights.nameOf(operation).isPresent())
                                        .count())
                .max()
                .orElse(0);
    }

    /**
     * The program with weights in the place of their names; types are inferred anew.
     *
     * @param name of the weight that stands where the template has another of its kind
     */
    Program bind(WeightConstants bound, UnaryOperator<String> name) {
        ProgramBuilder builder = ProgramBuilder.create();
        for (Function function : program.functions()) {
            FunctionBuilder to = builder.function(function.name(), function.opset());
            FunctionCopy.of(
                    function,
                    to,
                    (operation, copy) ->
                            weights.nameOf(operation).map(each -> List.of(bound.emit(name.apply(each), to))));
        }
        return builder.build();
    }
}
