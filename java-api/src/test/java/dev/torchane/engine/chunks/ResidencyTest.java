package dev.torchane.engine.chunks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ResidencyTest {

    @Test
    void everythingStaysWhereThereIsRoom() {
        assertEquals(3, Residency.staying(new long[] {5, 5, 5}, 15));
    }

    @Test
    void asManyOfTheFirstStayAsLeaveRoomForTheLargestOfTheOthers() {
        assertEquals(1, Residency.staying(new long[] {5, 5, 5}, 14));
        assertEquals(2, Residency.staying(new long[] {5, 5, 5, 5}, 15));
        assertEquals(1, Residency.staying(new long[] {5, 5, 9, 5}, 15));
    }

    @Test
    void noneStaysWhereEvenOneIsTooMuch() {
        assertEquals(0, Residency.staying(new long[] {5, 5, 5}, 1));
    }
}
