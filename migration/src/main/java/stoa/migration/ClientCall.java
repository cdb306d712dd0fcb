package stoa.migration;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.base.Clock;
import stoa.migration.core.CopyVersion;
import stoa.spi.CallContext;

/// The context of a method of a client-placed object. The thread that runs the method uses it.
///
/// No replay runs the method again, so time and randomness are those of the client.
final class ClientCall implements CallContext {
  private final Stoa stoa;
  private final long nowMicros;
  private final long seed;
  private final long version;
  private @Nullable RandomGenerator random;

  ClientCall(Stoa stoa, Clock clock, long seed, CopyVersion version) {
    this.stoa = stoa;
    this.nowMicros = clock.nowMicros();
    this.seed = seed;
    this.version = version.number();
  }

  @Override
  public Instant now() {
    return Instant.EPOCH.plus(nowMicros, ChronoUnit.MICROS);
  }

  @Override
  public RandomGenerator random() {
    RandomGenerator generator = random;
    if (generator == null) {
      generator = new SplittableRandom(seed);
      random = generator;
    }
    return generator;
  }

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    return stoa.get(type, key, args);
  }

  @Override
  public <T> T collection(Function<Stoa, T> opening) {
    return opening.apply(stoa);
  }

  @Override
  public long version() {
    return version;
  }
}
