package dev.torchane.text;

/** Holds back the white space that a text ends in, because white space beside a mark belongs to the mark. */
final class SpaceKeeper {

    private final StringBuilder spaces = new StringBuilder();
    private boolean dropsLeading;

    SpaceKeeper(boolean dropsLeading) {
        this.dropsLeading = dropsLeading;
    }

    /** Adds text; returns it without the spaces at its end, behind the spaces held before. */
    String append(CharSequence text) {
        int held = spaces.length();
        spaces.append(text);
        int end = spaces.length();
        while (end > held && isSpace(spaces.charAt(end - 1))) {
            end--;
        }
        if (end == held) {
            return "";
        }
        int start = 0;
        while (dropsLeading && isSpace(spaces.charAt(start))) {
            start++;
        }
        dropsLeading = false;
        String certain = spaces.substring(start, end);
        spaces.delete(0, end);
        return certain;
    }

    /** A mark stands here: spaces on both sides of it are dropped. */
    void mark() {
        spaces.setLength(0);
        dropsLeading = true;
    }

    /** Ends the text: returns the spaces held. */
    String finish() {
        String rest = dropsLeading ? "" : spaces.toString();
        spaces.setLength(0);
        return rest;
    }

    static boolean isSpace(char c) {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }
}
