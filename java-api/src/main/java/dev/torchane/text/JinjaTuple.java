package dev.torchane.text;

import java.util.AbstractList;
import java.util.List;

/** A Python tuple: a list in every way but how it is written and what it equals. */
final class JinjaTuple extends AbstractList<Object> {

    private final List<Object> items;

    JinjaTuple(List<Object> items) {
        this.items = items;
    }

    @Override
    public Object get(int index) {
        return items.get(index);
    }

    @Override
    public int size() {
        return items.size();
    }
}
