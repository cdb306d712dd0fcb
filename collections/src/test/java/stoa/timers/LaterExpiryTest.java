package stoa.timers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Expires;
import stoa.Shared;
import stoa.Stoa;

/// Versions of a class whose objects stay, and end.
class LaterExpiryTest {
  @Shared(name = "expiry.Thing")
  static class Staying {
    private int uses;

    public int use() {
      return ++uses;
    }
  }

  @Shared(name = "expiry.Thing")
  @Expires(value = 1, unit = TimeUnit.MILLISECONDS)
  static class Ending {
    private int uses;

    public int use() {
      return ++uses;
    }
  }

  @Test
  void anObjectEndsByCodeThatGotTheAnnotationLaterFromItsNextChangeOn(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(1, stoa.get(Staying.class, "changed").use());
      assertEquals(1, stoa.get(Staying.class, "left alone").use());
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(2, stoa.get(Ending.class, "changed").use());
      while (stoa.find(Ending.class, "changed").isPresent()) Thread.onSpinWait();
      while (!stoa.timers().next(10).isEmpty()) Thread.onSpinWait();
      assertTrue(stoa.find(Ending.class, "left alone").isPresent());
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(2, stoa.get(Staying.class, "left alone").use());
      assertEquals(List.of(), stoa.timers().next(10));
    }
  }
}
