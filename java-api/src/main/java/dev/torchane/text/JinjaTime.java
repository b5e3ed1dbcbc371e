package dev.torchane.text;

import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** {@code strftime} in the C locale. */
final class JinjaTime {

    private JinjaTime() {}

    static String format(LocalDateTime time, String format) {
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%' || i + 1 == format.length()) {
                result.append(c);
                continue;
            }
            char directive = format.charAt(++i);
            if (directive == '-' && i + 1 < format.length()) {
                String padded = directive(time, format.charAt(++i));
                result.append(padded.length() > 1 && padded.startsWith("0") ? padded.substring(1) : padded);
            } else {
                result.append(directive(time, directive));
            }
        }
        return result.toString();
    }

    private static String directive(LocalDateTime time, char directive) {
        return switch (directive) {
            case 'Y' -> text(time, "uuuu");
            case 'y' -> text(time, "uu");
            case 'm' -> text(time, "MM");
            case 'd' -> text(time, "dd");
            case 'e' -> "%2d".formatted(time.getDayOfMonth());
            case 'H' -> text(time, "HH");
            case 'I' -> text(time, "hh");
            case 'M' -> text(time, "mm");
            case 'S' -> text(time, "ss");
            case 'p' -> text(time, "a");
            case 'b', 'h' -> text(time, "MMM");
            case 'B' -> text(time, "MMMM");
            case 'a' -> text(time, "EEE");
            case 'A' -> text(time, "EEEE");
            case 'j' -> text(time, "DDD");
            case 'F' -> text(time, "uuuu-MM-dd");
            case 'T' -> text(time, "HH:mm:ss");
            case 'D' -> text(time, "MM/dd/uu");
            case '%' -> "%";
            default -> "%" + directive;
        };
    }

    private static String text(LocalDateTime time, String pattern) {
        return DateTimeFormatter.ofPattern(pattern, Locale.US).format(time);
    }
}
