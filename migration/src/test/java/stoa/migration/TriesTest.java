package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import stoa.Unavailable;

class TriesTest {
  @Test
  void endsWhatIsTriedTooOftenAndSaysWhy() {
    var tries = new Tries("test.Purse[alice]");
    for (int i = 1; i < Tries.TRIES_MAX; i++) tries.failed("the network was away");
    var told = assertThrows(Unavailable.class, () -> tries.failed("this process was disconnected"));
    String message = String.valueOf(told.getMessage());
    assertTrue(message.contains("test.Purse[alice]"), message);
    assertTrue(message.contains(Tries.TRIES_MAX + " times"), message);
    assertTrue(message.contains("this process was disconnected"), message);
  }
}
