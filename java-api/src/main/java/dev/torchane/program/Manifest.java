package dev.torchane.program;

import dev.torchane.TorchAneException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What {@code manifest.json} of a bundle says, as docs/architecture.md describes it. Reading checks everything that others
 * rely on; fields that are not listed here are ignored.
 *
 * @param kind what the bundle is: {@value #CAUSAL_LM} or {@value #MODULE}
 * @param target hardware its program is shaped for: {@code cpu}, {@code gpu}, {@code ane}
 * @param options the build's options as text
 * @param source the checkpoint
 * @param versions of the software that built it
 * @param languageModel what a causal language model has besides; empty for any other kind
 * @param rowAxes axis of each input that has one row per token of the window
 * @param weights what was stored, and how
 * @param buildSeconds what each stage of the build took, in their order; empty when it was not recorded
 */
public record Manifest(
        String kind,
        String target,
        Map<String, String> options,
        Source source,
        Map<String, String> versions,
        Optional<LanguageModel> languageModel,
        Map<String, Integer> rowAxes,
        List<Weight> weights,
        Map<String, Double> buildSeconds) {

    /** A language model with its loop in Java. */
    public static final String CAUSAL_LM = "causal-lm";

    /** Any module: functions from tensors to tensors. */
    public static final String MODULE = "module";

    /** Version of the format that is read. */
    public static final int FORMAT = 1;

    public Manifest {
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
        versions = Collections.unmodifiableMap(new LinkedHashMap<>(versions));
        rowAxes = Collections.unmodifiableMap(new LinkedHashMap<>(rowAxes));
        weights = List.copyOf(weights);
        buildSeconds = Collections.unmodifiableMap(new LinkedHashMap<>(buildSeconds));
    }

    /** Shape of the language model. */
    public Model model() {
        return requireLanguageModel().model();
    }

    /** Position embedding of the language model's full-attention layers. */
    public Rope rope() {
        return requireLanguageModel().rope();
    }

    /** Position embedding of its sliding layers, where it differs. */
    public Optional<Rope> localRope() {
        return requireLanguageModel().localRope();
    }

    /** Where its embedding table lies. */
    public Embedding embedding() {
        return requireLanguageModel().embedding();
    }

    private LanguageModel requireLanguageModel() {
        return languageModel.orElseThrow(() -> new TorchAneException("the bundle of " + source.name() + " is a " + kind
                + ", not a " + CAUSAL_LM + ": open it as a CompiledModule"));
    }

    /**
     * What a causal language model has besides its program.
     *
     * @param model its shape
     * @param rope position embedding of the full-attention layers
     * @param localRope position embedding of the sliding layers, where it differs
     * @param embedding where the embedding table lies
     */
    public record LanguageModel(Model model, Rope rope, Optional<Rope> localRope, Embedding embedding) {}

    /**
     * The checkpoint.
     *
     * @param name as the user named it
     * @param digest of its bytes, such as {@code sha256:…}
     */
    public record Source(String name, String digest) {}

    /**
     * Shape of a language model.
     *
     * @param architecture transformers' class
     * @param vocab entries of the vocabulary
     * @param hidden width of an embedding
     * @param maxPosition context the model was trained for, in tokens
     * @param maxLen largest context of this build, in tokens
     * @param prefillWindow rows of a prefill window
     * @param decodeWindow rows of a decode window
     * @param ladder context rungs, ascending
     * @param slidingWindow columns a row of a sliding layer sees; 0 when no layer slides
     * @param eos tokens that end an answer
     * @param bos token that begins a text, if there is one
     */
    public record Model(
            String architecture,
            int vocab,
            int hidden,
            int layers,
            int heads,
            int kvHeads,
            int headDim,
            int maxPosition,
            int maxLen,
            int prefillWindow,
            int decodeWindow,
            List<Integer> ladder,
            int slidingWindow,
            List<Integer> eos,
            OptionalInt bos) {
        public Model {
            ladder = List.copyOf(ladder);
            eos = List.copyOf(eos);
        }
    }

    /**
     * Rotary position embedding.
     *
     * @param dim channels of a head that are rotated
     * @param inverseFrequencies fp32, {@code dim / 2} of them
     * @param attentionScaling factor on cos and sin
     */
    public record Rope(int dim, List<Float> inverseFrequencies, float attentionScaling) {
        public Rope {
            inverseFrequencies = List.copyOf(inverseFrequencies);
        }
    }

    /**
     * The embedding table.
     *
     * @param encoding fp32, fp16, int8 (one scale for each row), or a block format of GGUF files such as q4_1
     * @param data offset of the table's blob, {@code [rows, columns]}
     * @param scale offset of the scales' blob, {@code [rows, 1]}; only for int8
     * @param multiplier factor on every looked-up row
     */
    public record Embedding(int rows, int columns, String encoding, long data, OptionalLong scale, float multiplier) {}

    /**
     * One stored weight.
     *
     * @param encoding such as {@code int8}
     * @param bytes it takes in the weight file
     * @param group output channels that share a palette, or inputs that share a scale; 0 where neither is shared
     * @param maxError largest absolute difference to the checkpoint's value
     * @param rmsError root of the mean squared difference
     * @param note why it is stored otherwise than the build's options say; empty where it is not
     */
    public record Weight(
            String name,
            List<Integer> shape,
            String encoding,
            long bytes,
            int group,
            double maxError,
            double rmsError,
            String note) {
        public Weight {
            shape = List.copyOf(shape);
        }
    }

    /**
     * Reads a manifest file.
     *
     * @throws TorchAneException when it is missing, no JSON, of another format or inconsistent; names file and field
     */
    public static Manifest read(Path file) {
        return new ManifestReader(file.toString(), JsonTree.read(file)).manifest();
    }

    /** Reads the text of a manifest. */
    public static Manifest parse(String json) {
        return new ManifestReader("manifest", JsonTree.parse("manifest", json)).manifest();
    }
}
