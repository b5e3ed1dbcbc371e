package dev.torchane.engine.coreml;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A message that was read back, by field numbers. */
record PackageReader(UnknownFieldSet fields) {

    static PackageReader model(Path mlpackage) {
        try {
            return of(
                    ByteString.copyFrom(Files.readAllBytes(mlpackage.resolve("Data/com.apple.CoreML/model.mlmodel"))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static PackageReader of(ByteString bytes) {
        try {
            return new PackageReader(UnknownFieldSet.parseFrom(bytes));
        } catch (InvalidProtocolBufferException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<PackageReader> children(int field) {
        return fields.getField(field).getLengthDelimitedList().stream()
                .map(PackageReader::of)
                .toList();
    }

    /** The only message behind some fields, one inside the other. */
    PackageReader child(int... path) {
        PackageReader at = this;
        for (int field : path) {
            at = at.children(field).getFirst();
        }
        return at;
    }

    Map<String, PackageReader> map(int field) {
        Map<String, PackageReader> entries = new LinkedHashMap<>();
        children(field).forEach(entry -> entries.put(entry.text(Schema.MAP_KEY), entry.child(Schema.MAP_VALUE)));
        return entries;
    }

    String text(int field) {
        return texts(field).getFirst();
    }

    List<String> texts(int field) {
        return fields.getField(field).getLengthDelimitedList().stream()
                .map(ByteString::toStringUtf8)
                .toList();
    }

    ByteString bytes(int field) {
        return fields.getField(field).getLengthDelimitedList().getFirst();
    }

    List<Long> integers(int field) {
        return fields.getField(field).getVarintList();
    }

    long integer(int field) {
        return integers(field).isEmpty() ? 0 : integers(field).getFirst();
    }

    /** The block of a function of a model. */
    PackageReader block(String function, CoreMlOpset opset) {
        return child(Schema.MODEL_ML_PROGRAM)
                .map(Schema.PROGRAM_FUNCTIONS)
                .get(function)
                .map(Schema.FUNCTION_BLOCKS)
                .get(opset.id());
    }

    /** Kinds of a block's operations. */
    List<String> kinds() {
        return children(Schema.BLOCK_OPERATIONS).stream()
                .map(operation -> operation.text(Schema.OPERATION_TYPE))
                .toList();
    }

    /** A block's operation by the name of its first result. */
    PackageReader operation(String name) {
        return children(Schema.BLOCK_OPERATIONS).stream()
                .filter(each -> each.map(Schema.OPERATION_ATTRIBUTES)
                        .get("name")
                        .child(Schema.VALUE_IMMEDIATE, Schema.IMMEDIATE_TENSOR, Schema.TENSOR_STRINGS)
                        .text(Schema.VALUES)
                        .equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no operation is called " + name));
    }
}
