package dev.torchane.text;

import java.util.List;
import java.util.function.Consumer;

/** Tells the thinking block from the text behind it. A block is one only where nothing but white space stands before it. */
final class ThinkingSplitter {

    private enum Place {
        BEFORE,
        INSIDE,
        BEHIND
    }

    private final ThinkingBlock block;
    private final Consumer<String> thinking;
    private final Consumer<String> text;
    private final MarkScanner close;
    private final StringBuilder beginning = new StringBuilder();
    private int spaces;
    private final SpaceKeeper inside = new SpaceKeeper(true);
    private Place place;
    private boolean skipsSpace;

    /**
     * @param thinking receives what stands in the block, with its marks unless it is separated
     * @param text receives what stands behind it
     */
    ThinkingSplitter(ThinkingBlock block, Consumer<String> thinking, Consumer<String> text) {
        this.block = block;
        this.thinking = thinking;
        this.text = text;
        this.close = new MarkScanner(List.of(block.close()));
        this.place = block.isOpen() ? Place.INSIDE : Place.BEFORE;
    }

    void append(String piece) {
        switch (place) {
            case BEFORE -> before(piece);
            case INSIDE -> inside(piece);
            case BEHIND -> behind(piece);
        }
    }

    void finish() {
        if (place == Place.BEFORE) {
            text.accept(beginning.toString());
        } else if (place == Place.INSIDE) {
            String rest = close.finish();
            thinking.accept(block.separated() ? inside.append(rest) + inside.finish() : rest);
        }
    }

    private void before(String piece) {
        beginning.append(piece);
        while (spaces < beginning.length() && SpaceKeeper.isSpace(beginning.charAt(spaces))) {
            spaces++;
        }
        String begun = beginning.substring(spaces);
        if (begun.startsWith(block.open())) {
            place = Place.INSIDE;
            int behindMark = spaces + block.open().length();
            if (!block.separated()) {
                thinking.accept(beginning.substring(0, behindMark));
            }
            inside(beginning.substring(behindMark));
        } else if (!block.open().startsWith(begun)) {
            place = Place.BEHIND;
            text.accept(beginning.toString());
        }
    }

    private void inside(String piece) {
        StringBuilder out = new StringBuilder();
        int rest = close.scan(piece, 0, out);
        if (!block.separated()) {
            thinking.accept(rest < 0 ? out.toString() : out + block.close());
        } else {
            thinking.accept(inside.append(out));
        }
        if (rest >= 0) {
            place = Place.BEHIND;
            skipsSpace = block.separated();
            behind(piece.substring(rest));
        }
    }

    private void behind(String piece) {
        int start = 0;
        while (skipsSpace && start < piece.length()) {
            if (SpaceKeeper.isSpace(piece.charAt(start))) {
                start++;
            } else {
                skipsSpace = false;
            }
        }
        text.accept(piece.substring(start));
    }
}
