package dev.torchane.engine.coreml;

import dev.torchane.program.DType;
import java.util.Map;
import java.util.Optional;

/**
 * Numbers of the fields and enumerations of Core ML's model format that a package of an ML program uses (coremltools,
 * {@code mlmodel/format}: {@code Model.proto}, {@code FeatureTypes.proto}, {@code MIL.proto}).
 */
final class Schema {

    static final int MAP_KEY = 1;
    static final int MAP_VALUE = 2;

    static final int MODEL_SPECIFICATION_VERSION = 1;
    static final int MODEL_DESCRIPTION = 2;
    static final int MODEL_ML_PROGRAM = 502;

    static final int DESCRIPTION_INPUT = 1;
    static final int DESCRIPTION_OUTPUT = 10;
    static final int DESCRIPTION_STATE = 13;
    static final int DESCRIPTION_FUNCTIONS = 20;
    static final int DESCRIPTION_DEFAULT_FUNCTION = 21;
    static final int DESCRIPTION_METADATA = 100;
    static final int METADATA_USER_DEFINED = 100;

    static final int FUNCTION_DESCRIPTION_NAME = 1;
    static final int FUNCTION_DESCRIPTION_INPUT = 2;
    static final int FUNCTION_DESCRIPTION_OUTPUT = 3;
    static final int FUNCTION_DESCRIPTION_STATE = 6;

    static final int FEATURE_NAME = 1;
    static final int FEATURE_TYPE = 3;
    static final int FEATURE_MULTI_ARRAY = 5;
    static final int FEATURE_STATE = 8;
    static final int STATE_ARRAY = 1;
    static final int ARRAY_SHAPE = 1;
    static final int ARRAY_DATA_TYPE = 2;

    static final int PROGRAM_VERSION = 1;
    static final int PROGRAM_FUNCTIONS = 2;
    static final int PROGRAM_ATTRIBUTES = 4;

    static final int FUNCTION_INPUTS = 1;
    static final int FUNCTION_OPSET = 2;
    static final int FUNCTION_BLOCKS = 3;

    static final int BLOCK_OUTPUTS = 2;
    static final int BLOCK_OPERATIONS = 3;

    static final int OPERATION_TYPE = 1;
    static final int OPERATION_INPUTS = 2;
    static final int OPERATION_OUTPUTS = 3;
    static final int OPERATION_ATTRIBUTES = 5;

    static final int ARGUMENT_BINDINGS = 1;
    static final int BINDING_NAME = 1;
    static final int BINDING_VALUE = 2;

    static final int NAMED_TYPE_NAME = 1;
    static final int NAMED_TYPE_TYPE = 2;

    static final int TYPE_TENSOR = 1;
    static final int TYPE_DICTIONARY = 4;
    static final int TYPE_STATE = 5;
    static final int DICTIONARY_KEY_TYPE = 1;
    static final int DICTIONARY_VALUE_TYPE = 2;
    static final int STATE_WRAPPED = 1;
    static final int TENSOR_DATA_TYPE = 1;
    static final int TENSOR_RANK = 2;
    static final int TENSOR_DIMENSIONS = 3;
    static final int DIMENSION_CONSTANT = 1;
    static final int CONSTANT_SIZE = 1;

    static final int VALUE_TYPE = 2;
    static final int VALUE_IMMEDIATE = 3;
    static final int VALUE_BLOB = 5;
    static final int BLOB_FILE_NAME = 1;
    static final int BLOB_OFFSET = 2;
    static final int IMMEDIATE_TENSOR = 1;
    static final int IMMEDIATE_DICTIONARY = 4;
    static final int DICTIONARY_PAIRS = 1;
    static final int PAIR_KEY = 1;
    static final int PAIR_VALUE = 2;

    static final int TENSOR_FLOATS = 1;
    static final int TENSOR_INTS = 2;
    static final int TENSOR_BOOLS = 3;
    static final int TENSOR_STRINGS = 4;
    static final int TENSOR_BYTES = 7;
    static final int VALUES = 1;

    private static final Map<DType, Integer> DATA_TYPES = Map.ofEntries(
            Map.entry(DType.BOOL, 1),
            Map.entry(DType.STRING, 2),
            Map.entry(DType.FP16, 10),
            Map.entry(DType.FP32, 11),
            Map.entry(DType.INT8, 21),
            Map.entry(DType.INT16, 22),
            Map.entry(DType.INT32, 23),
            Map.entry(DType.INT4, 25),
            Map.entry(DType.UINT8, 31),
            Map.entry(DType.UINT16, 32),
            Map.entry(DType.UINT32, 33),
            Map.entry(DType.UINT4, 35),
            Map.entry(DType.UINT2, 36),
            Map.entry(DType.UINT1, 37),
            Map.entry(DType.UINT6, 38),
            Map.entry(DType.UINT3, 39));

    private static final Map<DType, Integer> ARRAY_TYPES = Map.of(
            DType.FP16, 0x10000 | 16,
            DType.FP32, 0x10000 | 32,
            DType.INT32, 0x20000 | 32);

    private Schema() {}

    /** The number of an element type inside a program; none for those that a package is not written with. */
    static Optional<Integer> dataType(DType dtype) {
        return Optional.ofNullable(DATA_TYPES.get(dtype));
    }

    /** The number of an element type of inputs, outputs and states. */
    static Optional<Integer> arrayType(DType dtype) {
        return Optional.ofNullable(ARRAY_TYPES.get(dtype));
    }
}
