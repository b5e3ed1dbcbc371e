package dev.torchane.grammar;

import static dev.torchane.grammar.Node.sequence;
import static dev.torchane.grammar.Node.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.torchane.grammar.SchemaDocument.Part;
import java.util.Map;

/** Strings of a schema: their length in characters, a pattern or a format. */
final class SchemaStrings {

    private static final String MONTH_AND_DAY =
            "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))";
    private static final String LEAP_YEAR =
            "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
    private static final String DATE = "(?:\\d{4}-" + MONTH_AND_DAY + "|" + LEAP_YEAR + "-02-29)";
    private static final String TIME =
            "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:0\\d|1[0-7]):[0-5]\\d)";
    private static final String BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

    /** RFC 3339 and RFC 4122, as JSON schema names them. */
    private static final Map<String, String> FORMATS = Map.of(
            "date",
            DATE,
            "time",
            TIME,
            "date-time",
            DATE + "T" + TIME,
            "uuid",
            "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
            "ipv4",
            BYTE + "(?:\\." + BYTE + "){3}");

    private SchemaStrings() {}

    static Node string(Part part) {
        int min = part.count("minLength", 0);
        int max = part.count("maxLength", Node.UNBOUNDED);
        boolean counted = part.has("minLength") || part.has("maxLength");
        if (part.has("pattern")) {
            if (counted || part.has("format")) {
                throw part.error(
                        "pattern", "a pattern beside a length or a format cannot be honoured: say it in the pattern");
            }
            return pattern(part);
        }
        if (part.has("format")) {
            return format(part, counted);
        }
        if (max < min) {
            return Node.NEVER;
        }
        return counted
                ? sequence(text("\""), new Node.Repeat(JsonText.call(JsonText.CHARACTER), min, max), text("\""))
                : JsonText.call(JsonText.STRING);
    }

    private static Node pattern(Part part) {
        JsonNode pattern = part.get("pattern");
        String pointer = part.pointer() + "/pattern";
        if (!pattern.isTextual()) {
            throw part.error("pattern", "expected a regular expression, found " + SchemaDocument.shortened(pattern));
        }
        Node node = RegexParser.part(pattern.textValue(), pointer);
        return sequence(text("\""), JsonText.escaped(node), text("\""));
    }

    private static Node format(Part part, boolean counted) {
        JsonNode format = part.get("format");
        String expression = format.isTextual() ? FORMATS.get(format.textValue()) : null;
        if (expression == null) {
            throw part.error(
                    "format",
                    "the format " + SchemaDocument.shortened(format)
                            + " cannot be honoured (date, time, date-time, uuid, ipv4 can):"
                            + " remove it or write a pattern");
        }
        if (counted) {
            throw part.error("format", "a format beside a length cannot be honoured: leave one of them out");
        }
        return sequence(text("\""), RegexParser.whole(expression), text("\""));
    }
}
