package stoa.spring.refused;

import java.time.Instant;
import stoa.Shared;

/// Classes that no store takes, and one that it does.
public final class Broken {
  private Broken() {}

  /// Reads a clock.
  @Shared(name = "spring.Clock")
  public static class Clock {
    private long last;

    /// Not the same in a replay.
    public long tick() {
      last = Instant.now().toEpochMilli();
      return last;
    }
  }

  /// Has no proxies.
  @Shared(name = "spring.Sealed")
  public static final class Sealed {
    private int value;

    /// Changes it.
    public int change() {
      return ++value;
    }
  }

  /// Is as it should be.
  @Shared(name = "spring.Sound")
  public static class Sound {
    private int value;

    /// Changes it.
    public int change() {
      return ++value;
    }
  }
}
