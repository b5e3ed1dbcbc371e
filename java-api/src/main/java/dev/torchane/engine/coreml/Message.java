package dev.torchane.engine.coreml;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** A protobuf message by field numbers. As in proto3, a number that is zero is not written. */
final class Message {

    private final UnknownFieldSet.Builder fields = UnknownFieldSet.newBuilder();

    Message text(int field, String value) {
        return bytes(field, ByteString.copyFromUtf8(value));
    }

    Message texts(int field, Iterable<String> values) {
        values.forEach(value -> text(field, value));
        return this;
    }

    Message bytes(int field, ByteString value) {
        fields.mergeField(
                field,
                UnknownFieldSet.Field.newBuilder().addLengthDelimited(value).build());
        return this;
    }

    Message child(int field, Message value) {
        return bytes(field, value.fields.build().toByteString());
    }

    Message children(int field, Iterable<Message> values) {
        values.forEach(value -> child(field, value));
        return this;
    }

    /** An entry of a map with text as its keys. */
    Message entry(int field, String key, Message value) {
        return child(field, new Message().text(Schema.MAP_KEY, key).child(Schema.MAP_VALUE, value));
    }

    Message integer(int field, long value) {
        return value == 0 ? this : integers(field, List.of(value));
    }

    /** A repeated field of integers, every one of them written. */
    Message integers(int field, List<Long> values) {
        if (!values.isEmpty()) {
            UnknownFieldSet.Field.Builder numbers = UnknownFieldSet.Field.newBuilder();
            values.forEach(numbers::addVarint);
            fields.mergeField(field, numbers.build());
        }
        return this;
    }

    /** A repeated field of floats, packed. */
    Message floats(int field, List<Double> values) {
        ByteBuffer packed = ByteBuffer.allocate(Math.multiplyExact(values.size(), Float.BYTES))
                .order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(value -> packed.putFloat(value.floatValue()));
        return bytes(field, ByteString.copyFrom(packed.flip()));
    }

    byte[] toBytes() {
        return fields.build().toByteArray();
    }
}
