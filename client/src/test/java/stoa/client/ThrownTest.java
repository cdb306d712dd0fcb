package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.Server;

/// Exceptions of methods that a server executes.
class ThrownTest {
  @Shared(name = "thrown.Door")
  static class Door {
    public void open() {
      push();
    }

    private void push() {
      throw new IllegalStateException("it is locked");
    }
  }

  @Test
  void tellsWhereItWasThrownAndThenWhereItWasCalled() throws Exception {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa stoa = Stoa.open("stoa://127.0.0.1:" + server.port())) {
      Door door = stoa.get(Door.class, "front");
      requireBoth(assertThrows(IllegalStateException.class, () -> enter(door)));
      requireBoth(
          assertThrows(IllegalStateException.class, () -> stoa.transact(() -> enter(door))));
    }
  }

  private static void enter(Door door) {
    door.open();
  }

  private static void requireBoth(Throwable thrown) {
    assertEquals("it is locked", thrown.getMessage());
    var methods =
        Arrays.stream(thrown.getStackTrace())
            .map(StackTraceElement::getMethodName)
            .filter(List.of("push", "open", "enter", "requireBoth")::contains)
            .distinct()
            .toList();
    assertEquals(List.of("push", "open", "enter"), methods);
    assertEquals("push", thrown.getStackTrace()[0].getMethodName());
  }
}
