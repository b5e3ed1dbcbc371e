package dev.torchane.engine.coreml;

import dev.torchane.TorchAneException;
import dev.torchane.program.Function;
import dev.torchane.program.Program;
import dev.torchane.program.Value;
import java.util.List;
import java.util.Map;

/** The model around a program: what its functions take and give, in Core ML's terms. */
final class ModelMessages {

    /** The function that a model of one function has, and the one of several that is called when none is named. */
    static final String MAIN = "main";

    private ModelMessages() {}

    /** A model; of one function called {@code main}, or of several. */
    static Message model(Program program, CoreMlOpset opset, Map<String, String> metadata) {
        List<Function> functions = program.functions();
        boolean single = functions.size() == 1 && functions.getFirst().name().equals(MAIN);
        Message description = new Message();
        if (single) {
            Function main = functions.getFirst();
            description
                    .children(Schema.DESCRIPTION_INPUT, features(main.tensors()))
                    .children(Schema.DESCRIPTION_OUTPUT, features(main.outputs()))
                    .children(Schema.DESCRIPTION_STATE, features(main.states()));
        } else {
            functions.forEach(each -> description.child(Schema.DESCRIPTION_FUNCTIONS, function(each)));
            boolean main = functions.stream().anyMatch(each -> each.name().equals(MAIN));
            description.text(
                    Schema.DESCRIPTION_DEFAULT_FUNCTION,
                    main ? MAIN : functions.getFirst().name());
        }
        Message about = new Message();
        metadata.forEach((key, value) -> about.child(
                Schema.METADATA_USER_DEFINED,
                new Message().text(Schema.MAP_KEY, key).text(Schema.MAP_VALUE, value)));
        return new Message()
                .integer(Schema.MODEL_SPECIFICATION_VERSION, opset.specification())
                .child(Schema.MODEL_DESCRIPTION, description.child(Schema.DESCRIPTION_METADATA, about))
                .child(Schema.MODEL_ML_PROGRAM, ProgramMessages.program(program, opset));
    }

    private static Message function(Function function) {
        return new Message()
                .text(Schema.FUNCTION_DESCRIPTION_NAME, function.name())
                .children(Schema.FUNCTION_DESCRIPTION_INPUT, features(function.tensors()))
                .children(Schema.FUNCTION_DESCRIPTION_OUTPUT, features(function.outputs()))
                .children(Schema.FUNCTION_DESCRIPTION_STATE, features(function.states()));
    }

    private static List<Message> features(List<Value> values) {
        return values.stream().map(ModelMessages::feature).toList();
    }

    private static Message feature(Value value) {
        int dtype = Schema.arrayType(value.type().dtype())
                .orElseThrow(() -> new TorchAneException(
                        "Core ML takes and gives fp32, fp16 and int32; '" + value.name() + "' is " + value.type()));
        Message array = new Message()
                .integers(
                        Schema.ARRAY_SHAPE,
                        value.type().shape().stream().map(Integer::longValue).toList())
                .integer(Schema.ARRAY_DATA_TYPE, dtype);
        Message type = value.state()
                ? new Message().child(Schema.FEATURE_STATE, new Message().child(Schema.STATE_ARRAY, array))
                : new Message().child(Schema.FEATURE_MULTI_ARRAY, array);
        return new Message().text(Schema.FEATURE_NAME, value.name()).child(Schema.FEATURE_TYPE, type);
    }
}
