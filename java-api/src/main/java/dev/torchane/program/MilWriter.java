package dev.torchane.program;

import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Writes MIL text as Core ML lays it out. */
final class MilWriter {

    private final StringBuilder out = new StringBuilder(1 << 16);

    String program(Program program) {
        out.append("program(").append(program.version()).append(")\n[buildInfo = dict<string, string>({");
        String separator = "";
        for (Map.Entry<String, String> pair : program.buildInfo().entrySet()) {
            out.append(separator).append('{');
            string(pair.getKey());
            out.append(", ");
            string(pair.getValue());
            out.append('}');
            separator = ", ";
        }
        out.append("})]\n{\n");
        program.functions().forEach(this::function);
        return out.append("}\n").toString();
    }

    private void function(Function function) {
        out.append("    func ")
                .append(function.name())
                .append('<')
                .append(function.opset())
                .append(">(");
        String separator = "";
        for (Value input : function.inputs()) {
            out.append(separator);
            if (input.state()) {
                out.append("state<");
                tensorType(input.type());
                out.append('>');
            } else {
                tensorType(input.type());
            }
            out.append(' ').append(input.name());
            separator = ", ";
        }
        out.append(") {\n");
        function.operations().forEach(this::operation);
        out.append("        } -> (");
        names(function.outputs());
        out.append(");\n");
    }

    private void operation(Operation operation) {
        out.append("            ");
        String separator = "";
        for (Value result : operation.outputs()) {
            out.append(separator);
            type(result.type());
            out.append(' ').append(result.name());
            separator = ", ";
        }
        out.append(operation.outputs().isEmpty() ? "" : " = ")
                .append(operation.kind())
                .append('(');
        separator = "";
        for (Map.Entry<String, List<Value>> operand : operation.inputs().entrySet()) {
            out.append(separator).append(operand.getKey()).append(" = ");
            boolean several = operand.getValue().size() != 1 || variadic(operation.kind(), operand.getKey());
            out.append(several ? "(" : "");
            names(operand.getValue());
            out.append(several ? ")" : "");
            separator = ", ";
        }
        out.append(')');
        if (!operation.attributes().isEmpty()) {
            separator = "[";
            for (Map.Entry<String, Literal> attribute : operation.attributes().entrySet()) {
                out.append(separator).append(attribute.getKey()).append(" = ");
                literal(attribute.getValue());
                separator = ", ";
            }
            out.append(']');
        }
        out.append(";\n");
    }

    private static boolean variadic(String kind, String parameter) {
        return parameter.equals("values")
                && OperationTable.find(kind)
                        .flatMap(signature -> signature.parameter(parameter))
                        .map(Parameter::variadic)
                        .orElse(false);
    }

    private void names(List<Value> values) {
        for (int i = 0; i < values.size(); i++) {
            out.append(i == 0 ? "" : ", ").append(values.get(i).name());
        }
    }

    private void type(TensorType type) {
        if (type.rank() == 0) {
            out.append(type.dtype().mil());
        } else {
            tensorType(type);
        }
    }

    /** Inputs are written as tensors even when they are scalars. */
    private void tensorType(TensorType type) {
        out.append("tensor<").append(type.dtype().mil()).append(", [");
        for (int i = 0; i < type.rank(); i++) {
            out.append(i == 0 ? "" : ", ").append(type.axis(i));
        }
        out.append("]>");
    }

    private void literal(Literal literal) {
        type(literal.type());
        out.append('(');
        switch (literal) {
            case Literal.Text(String text) -> string(text);
            case Literal.Bool(boolean value) -> out.append(value);
            case Literal.Texts(List<String> texts) -> {
                String separator = "[";
                for (String text : texts) {
                    out.append(separator);
                    string(text);
                    separator = ", ";
                }
                out.append(texts.isEmpty() ? "[]" : "]");
            }
            case Literal.Numbers(TensorType type, List<Double> values) -> list(type, 0, values.iterator());
            case Literal.Blob(TensorType type, String path, long offset) -> {
                out.append("BLOBFILE(path = string(");
                string(path);
                out.append("), offset = uint64(").append(offset).append("))");
            }
        }
        out.append(')');
    }

    private void list(TensorType type, int axis, Iterator<Double> values) {
        if (axis == type.rank()) {
            number(type.dtype(), values.next());
            return;
        }
        out.append('[');
        for (int i = 0; i < type.axis(axis) && values.hasNext(); i++) {
            out.append(i == 0 ? "" : ", ");
            list(type, axis + 1, values);
        }
        out.append(']');
    }

    private void number(DType dtype, double value) {
        if (dtype == DType.BOOL) {
            out.append(value != 0);
        } else if (!dtype.isFloat()) {
            out.append((long) value);
        } else if (Double.isNaN(value)) {
            out.append("nan");
        } else if (Double.isInfinite(value)) {
            out.append(value < 0 ? "-inf" : "inf");
        } else {
            String hex = Double.toHexString(value).replace(".0p", "p");
            int exponent = hex.indexOf('p') + 1;
            boolean signed = hex.charAt(exponent) == '-';
            out.append(hex, 0, exponent).append(signed ? "" : "+").append(hex, exponent, hex.length());
        }
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                case '\r' -> out.append("\\r");
                default -> out.append(c);
            }
        }
        out.append('"');
    }
}
