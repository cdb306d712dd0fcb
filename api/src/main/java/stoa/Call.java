package stoa;

import java.time.Instant;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.spi.CallContext;

/// What a method of a shared object may use in place of clocks and randomness.
///
/// Every value is a function of the logged call, so that a replay and every replica see the same
/// one. Outside a call on a shared object each method throws [IllegalStateException].
public final class Call {
  private Call() {}

  /// The time at which the call was logged, in microseconds' precision; it never goes back from one
  /// call to the next.
  public static Instant now() {
    return CallContext.current().now();
  }

  /// A generator seeded by the identity of the call. The same generator for the whole call.
  public static RandomGenerator random() {
    return CallContext.current().random();
  }

  /// A version 4 UUID drawn from [#random()].
  public static UUID uuid() {
    var random = random();
    long high = (random.nextLong() & ~0xF000L) | 0x4000L;
    long low = (random.nextLong() & ~(0b11L << 62)) | (0b10L << 62);
    return new UUID(high, low);
  }

  /// A proxy of another shared object, as [Stoa#get] gives to a caller outside. Calls on it are
  /// part of this call: their answers are logged with it and are the same in every replay.
  public static <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    return CallContext.current().get(type, key, args);
  }

  /// The stream address of the call, which is the version of the object after it. In an accessor:
  /// the version that it reads.
  public static long version() {
    return CallContext.current().version();
  }
}
