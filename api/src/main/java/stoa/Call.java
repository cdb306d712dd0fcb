package stoa;

import java.time.Instant;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.spi.CallContext;

/// Replacements for clocks and randomness in methods of shared objects.
///
/// Every value is a function of the logged call, so every replay and every replica gets the same
/// one. Outside a call on a shared object each method throws [IllegalStateException].
public final class Call {
  private Call() {}

  /// Returns the time at which the store logged the call, with a precision of microseconds. It
  /// never goes back from one call to the next.
  public static Instant now() {
    return CallContext.current().now();
  }

  /// Returns a generator whose seed is the identity of the call. The whole call has one generator.
  public static RandomGenerator random() {
    return CallContext.current().random();
  }

  /// Returns a version 4 UUID drawn from [#random()].
  public static UUID uuid() {
    var random = random();
    long high = (random.nextLong() & ~0xF000L) | 0x4000L;
    long low = (random.nextLong() & ~(0b11L << 62)) | (0b10L << 62);
    return new UUID(high, low);
  }

  /// Returns a proxy of another shared object, as [Stoa#get] does outside. Calls on it are part of
  /// this call: the store logs their answers with it, and every replay gets the same answers.
  public static <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    return CallContext.current().get(type, key, args);
  }

  /// Returns the stream address of the call, which is the version of the object after it. In an
  /// accessor, returns the version that it reads.
  public static long version() {
    return CallContext.current().version();
  }
}
