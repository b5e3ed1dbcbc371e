package dev.torchane.program;

import dev.torchane.TorchAneException;
import dev.torchane.weights.WeightType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The one place that decides whether JSON is a manifest. Every refusal names the field, what was expected and found. */
final class ManifestReader {

    private final String source;
    private final Node root;

    ManifestReader(String source, Map<String, Object> json) {
        this.source = source;
        this.root = new Node("", json);
    }

    Manifest manifest() {
        int format = root.integer("format", 0);
        if (format != Manifest.FORMAT) {
            throw refuse(
                    "format",
                    "a bundle of format " + Manifest.FORMAT,
                    format + " (another version of torch-ane made it)");
        }
        String kind = root.text("kind");
        if (!List.of(Manifest.CAUSAL_LM, Manifest.MODULE).contains(kind)) {
            throw refuse("kind", "'" + Manifest.CAUSAL_LM + "' or '" + Manifest.MODULE + "'", "'" + kind + "'");
        }
        Node source = root.object("source");
        return new Manifest(
                kind,
                root.text("target"),
                texts("options"),
                new Manifest.Source(source.text("name"), source.text("digest")),
                texts("versions"),
                kind.equals(Manifest.CAUSAL_LM) ? Optional.of(languageModel()) : Optional.empty(),
                rowAxes(),
                weights(),
                buildSeconds());
    }

    private Manifest.LanguageModel languageModel() {
        Manifest.Model model = model(root.object("model"));
        Node rope = root.object("rope");
        return new Manifest.LanguageModel(
                model,
                rope(rope.object("global")),
                rope.find("local").map(local -> rope(rope.object("local"))),
                embedding(root.object("embedding"), model));
    }

    private Manifest.Model model(Node model) {
        List<Integer> ladder = model.integers("ladder", 1);
        for (int i = 1; i < ladder.size(); i++) {
            if (ladder.get(i) <= ladder.get(i - 1)) {
                throw refuse("model.ladder", "rungs that ascend", ladder.toString());
            }
        }
        int maxLen = model.integer("maxLen", 1);
        int prefill = model.integer("prefillWindow", 1);
        int decode = model.integer("decodeWindow", 1);
        if (ladder.isEmpty() || maxLen > ladder.getLast() || prefill > ladder.getFirst() || decode > prefill) {
            throw refuse(
                    "model.ladder",
                    "rungs that hold windows of " + decode + " and " + prefill + " and reach maxLen " + maxLen,
                    ladder.toString());
        }
        if (ladder.stream().anyMatch(rung -> rung % decode != 0)) {
            throw refuse("model.ladder", "rungs of whole decode windows of " + decode, ladder.toString());
        }
        int heads = model.integer("heads", 1);
        int kvHeads = model.integer("kvHeads", 1);
        if (heads % kvHeads != 0) {
            throw refuse("model.kvHeads", "a divisor of the " + heads + " heads", Integer.toString(kvHeads));
        }
        return new Manifest.Model(
                model.text("architecture"),
                model.integer("vocab", 1),
                model.integer("hidden", 1),
                model.integer("layers", 1),
                heads,
                kvHeads,
                model.integer("headDim", 1),
                model.integer("maxPosition", 1),
                maxLen,
                prefill,
                decode,
                ladder,
                model.find("slidingWindow").isEmpty() ? 0 : model.integer("slidingWindow", 0),
                model.integers("eos", 0),
                model.find("bos").isEmpty() ? OptionalInt.empty() : OptionalInt.of(model.integer("bos", 0)));
    }

    private Manifest.Rope rope(Node rope) {
        int dim = rope.integer("dim", 2);
        List<Object> numbers = rope.list("inverseFrequencies");
        List<Float> frequencies = numbers.stream()
                .map(number -> number instanceof Number n ? n.floatValue() : Float.NaN)
                .toList();
        boolean finite = frequencies.stream().allMatch(Float::isFinite);
        if (!finite || dim % 2 != 0 || frequencies.size() != dim / 2) {
            throw refuse(
                    rope.path("inverseFrequencies"),
                    "dim / 2 = " + dim / 2 + " finite numbers",
                    numbers.size() + " of them" + (finite ? "" : ", not all finite"));
        }
        return new Manifest.Rope(dim, frequencies, (float) rope.number("attentionScaling"));
    }

    private Manifest.Embedding embedding(Node embedding, Manifest.Model model) {
        int rows = embedding.integer("rows", 1);
        int columns = embedding.integer("columns", 1);
        if (rows < model.vocab() || columns != model.hidden()) {
            throw refuse(
                    "embedding",
                    "at least " + model.vocab() + " rows of " + model.hidden() + " columns, as the model has",
                    rows + " rows of " + columns);
        }
        String encoding = embedding.text("encoding");
        List<String> known = new ArrayList<>(List.of("fp32", "fp16", "int8"));
        known.addAll(WeightType.blocks());
        if (!known.contains(encoding)) {
            throw refuse("embedding.encoding", "one of " + known, "'" + encoding + "'");
        }
        int block = WeightType.block(encoding).map(WeightType::blockElements).orElse(1);
        if (columns % block != 0) {
            throw refuse("embedding.columns", "whole blocks of " + block + " for " + encoding, "" + columns);
        }
        OptionalLong scale =
                embedding.find("scale").isEmpty() ? OptionalLong.empty() : OptionalLong.of(embedding.wide("scale", 0));
        if (scale.isPresent() != encoding.equals("int8")) {
            throw refuse("embedding.scale", "an offset for int8 and none otherwise", scale + " for " + encoding);
        }
        double multiplier = embedding.find("multiplier").isEmpty() ? 1 : embedding.number("multiplier");
        return new Manifest.Embedding(rows, columns, encoding, embedding.wide("data", 0), scale, (float) multiplier);
    }

    private Map<String, Integer> rowAxes() {
        Node axes = root.object("rowAxes");
        Map<String, Integer> result = new LinkedHashMap<>();
        axes.fields.keySet().forEach(name -> result.put(name, axes.integer(name, 0)));
        return result;
    }

    private List<Manifest.Weight> weights() {
        List<Object> list = root.find("weights").isEmpty() ? List.of() : root.list("weights");
        return java.util.stream.IntStream.range(0, list.size())
                .mapToObj(i -> {
                    Node weight = node("weights[" + i + "]", list.get(i));
                    return new Manifest.Weight(
                            weight.text("name"),
                            weight.integers("shape", 0),
                            weight.text("encoding"),
                            weight.wide("bytes", 0),
                            weight.find("group").isEmpty() ? 0 : weight.integer("group", 1),
                            weight.find("maxError").isEmpty() ? 0 : weight.number("maxError"),
                            weight.find("rmsError").isEmpty() ? 0 : weight.number("rmsError"),
                            weight.find("note").isEmpty() ? "" : weight.text("note"));
                })
                .toList();
    }

    private Map<String, Double> buildSeconds() {
        if (root.find("build").isEmpty() || root.object("build").find("seconds").isEmpty()) {
            return Map.of();
        }
        Node seconds = root.object("build").object("seconds");
        Map<String, Double> result = new LinkedHashMap<>();
        seconds.fields.keySet().forEach(stage -> result.put(stage, seconds.number(stage)));
        return result;
    }

    private Map<String, String> texts(String field) {
        Map<String, String> result = new LinkedHashMap<>();
        root.object(field).fields.forEach((key, value) -> result.put(key, String.valueOf(value)));
        return result;
    }

    private Node node(String path, Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            throw refuse(path, "an object", describe(Optional.ofNullable(value)));
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        map.forEach((key, field) -> fields.put((String) key, field));
        return new Node(path, fields);
    }

    private TorchAneException refuse(String field, String expected, String found) {
        return new TorchAneException(
                source + ": expected " + field + " to be " + expected + ", found " + found + "; build the model again");
    }

    private static String describe(Optional<Object> value) {
        return value.map(found -> {
                    String text = String.valueOf(found);
                    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
                })
                .orElse("nothing");
    }

    /** An object of the manifest and where it stands. */
    private final class Node {

        private final String path;
        private final Map<String, Object> fields;

        Node(String path, Map<String, Object> fields) {
            this.path = path;
            this.fields = fields;
        }

        String path(String field) {
            return path.isEmpty() ? field : path + "." + field;
        }

        Optional<Object> find(String field) {
            return Optional.ofNullable(fields.get(field));
        }

        Node object(String field) {
            return node(path(field), fields.get(field));
        }

        String text(String field) {
            if (fields.get(field) instanceof String text) {
                return text;
            }
            throw refuse(path(field), "a string", describe(find(field)));
        }

        List<Object> list(String field) {
            if (fields.get(field) instanceof List<?> list) {
                return java.util.Collections.unmodifiableList(list);
            }
            throw refuse(path(field), "a list", describe(find(field)));
        }

        double number(String field) {
            if (fields.get(field) instanceof Number number && Double.isFinite(number.doubleValue())) {
                return number.doubleValue();
            }
            throw refuse(path(field), "a finite number", describe(find(field)));
        }

        long wide(String field, long least) {
            if (fields.get(field) instanceof Long number && number >= least) {
                return number;
            }
            throw refuse(path(field), "an integer of at least " + least, describe(find(field)));
        }

        int integer(String field, int least) {
            return integer(path(field), fields.get(field), least);
        }

        List<Integer> integers(String field, int least) {
            return list(field).stream()
                    .map(value -> integer(path(field), value, least))
                    .toList();
        }

        private int integer(String where, Object value, int least) {
            if (value instanceof Long number && number >= least && number <= Integer.MAX_VALUE) {
                return number.intValue();
            }
            throw refuse(where, "an integer of at least " + least, describe(Optional.ofNullable(value)));
        }
    }
}
