package stoa.objects;

import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.spi.CallContext;

/// The context in which the store reads the indexed values of an object: there they depend on the
/// object alone.
final class LookingContext implements CallContext {
  private static IllegalStateException refused(String what) {
    return new IllegalStateException("an accessor with an index cannot " + what);
  }

  @Override
  public Instant now() {
    throw refused("ask for the time");
  }

  @Override
  public RandomGenerator random() {
    throw refused("ask for random numbers");
  }

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    throw refused("call other objects");
  }

  @Override
  public void refuseOutside(String operation) {
    throw refused(operation);
  }

  @Override
  public long version() {
    throw refused("ask for its version");
  }
}
