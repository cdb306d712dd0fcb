package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.objects.marshal.Marshaller;

/// A place in the log at which objects are seen. Whoever can reach it holds what is seen there.
/// Immutable; equal to others at the same address of the same store.
final class Place {
  /// Bound while an answer is read whose shared objects are seen at a place.
  private static final ScopedValue<Place> READING = ScopedValue.newInstance();

  private final EmbeddedStoa stoa;
  private final LogAddress address;

  Place(EmbeddedStoa stoa, LogAddress address) {
    this.stoa = stoa;
    this.address = address;
  }

  /// The log address.
  LogAddress address() {
    return address;
  }

  /// The place at which the shared objects are seen that the current thread reads; null when they
  /// are live.
  static @Nullable Place current(EmbeddedStoa stoa) {
    if (!READING.isBound()) return null;
    Place place = READING.get();
    return place.stoa == stoa ? place : null;
  }

  /// What an answer says, with all shared objects as they are seen here.
  @Nullable Object seen(ObjectAnswer answer, Marshaller marshaller) throws Throwable {
    if (answer instanceof ObjectAnswer.Shared) return answer.get(marshaller);
    return ScopedValue.where(READING, this)
        .call(() -> {
          try {
            return answer.get(marshaller);
          } catch (Error | Exception passedOn) {
            throw passedOn;
          } catch (Throwable thrown) {
            throw new IllegalStateException(thrown);
          }
        });
  }

  /// A value with all shared objects as they are seen here.
  @Nullable Object seen(@Nullable Object value) {
    Marshaller marshaller = stoa.marshaller();
    if (marshaller.isValue(value)) return value;
    byte[] encoded = marshaller.value(value);
    return ScopedValue.where(READING, this).call(() -> marshaller.value(encoded));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Place place && place.stoa == stoa && place.address.equals(address);
  }

  @Override
  public int hashCode() {
    return address.hashCode();
  }
}
