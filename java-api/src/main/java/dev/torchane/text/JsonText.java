package dev.torchane.text;

/** Collects a JSON object or array, character by character, up to its end. Whether it is JSON is seen afterwards. */
final class JsonText {

    enum Progress {
        MORE,
        COMPLETE,
        IMPOSSIBLE
    }

    private final StringBuilder text = new StringBuilder();
    private int depth;
    private boolean inString;
    private boolean escaped;

    boolean isBegun() {
        return !text.isEmpty();
    }

    String text() {
        return text.toString();
    }

    Progress accept(char c) {
        text.append(c);
        if (inString) {
            if (escaped) {
                escaped = false;
            } else if (c == '\\') {
                escaped = true;
            } else if (c == '"') {
                inString = false;
            }
            return Progress.MORE;
        }
        switch (c) {
            case '"' -> inString = true;
            case '{', '[' -> depth++;
            case '}', ']' -> depth--;
            default -> {
                if (!SpaceKeeper.isSpace(c) && ":,+-.0123456789Etruefalsn".indexOf(c) < 0) {
                    return Progress.IMPOSSIBLE;
                }
            }
        }
        return depth > 0
                ? Progress.MORE
                : depth == 0 && (c == '}' || c == ']') ? Progress.COMPLETE : Progress.IMPOSSIBLE;
    }
}
