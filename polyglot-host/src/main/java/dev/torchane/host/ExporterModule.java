package dev.torchane.host;

import java.util.List;
import org.graalvm.polyglot.HostAccess;
import org.graalvm.polyglot.Value;

/** The Python module {@code torch_ane.host}. */
@HostAccess.Implementable
interface ExporterModule {

    /** Its name, for {@link PythonContext#module}. */
    String NAME = "torch_ane.host";

    /** Versions as JSON. */
    String versions();

    /** A model over the checkpoint's own memory, from its configuration: an opaque handle. */
    Value load_causal_lm(String configJson, CheckpointSource checkpoint);

    /** Sends every weight, then every function; answers JSON for the manifest. */
    String export_causal_lm(
            Value model, String optionsJson, ProgramSink program, WeightSink weights, ProgressSink progress);

    /** The template of a configuration, traced and checked: an opaque handle. */
    Value begin_chunks(String configJson, String optionsJson, ProgressSink progress);

    /** JSON for the manifest, and of all layers and weights what {@link ChunkedExport} binds them by. */
    String describe_chunks(Value export);

    /** Lowers {@code count} layers from {@code first} on. */
    void send_layers(Value export, ProgramSink program, int first, int count);

    /** Lowers what comes behind the layers. */
    void send_head(Value export, ProgramSink program);

    /** The logits after the last id, fp32 {@code [vocab]}, computed by transformers alone: a contiguous tensor. */
    PythonTensor eager_logits(Value model, List<Integer> ids);

    /**
     * A module from what {@link ModuleText#source} writes: an opaque handle. A factory's code runs.
     */
    Value load_module(String sourceJson);

    /** Lowers a module's functions and sends its weights; answers JSON for the manifest. */
    String export_module(
            Value module, String optionsJson, ProgramSink program, WeightSink weights, ProgressSink progress);

    /** Runs a module in torch on tensors that lie in this process, as {@link ModuleText#tensors} describes them. */
    PythonResults run_module(Value module, String inputsJson);
}
