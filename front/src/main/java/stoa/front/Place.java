package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.front.marshal.Marshaller;

/// A place in the log at which objects are seen. Whoever can reach it holds what is seen there.
/// Immutable; equal to others at the same address of the same store.
@SuppressWarnings("ReferenceEquality") // Justification: a store is itself
public final class Place {
  // Bound while an answer is read whose shared objects are seen at a place.
  private static final ScopedValue<Place> READING = ScopedValue.newInstance();

  private final SharedStoa stoa;
  private final Marshaller marshaller;
  private final LogAddress address;

  /// A place in the log of a store.
  ///
  /// @param stoa the store
  /// @param marshaller the store's, whose references ask for [#current]
  Place(SharedStoa stoa, Marshaller marshaller, LogAddress address) {
    this.stoa = stoa;
    this.marshaller = marshaller;
    this.address = address;
  }

  /// The same place, for what another part of the store says.
  ///
  /// @param other of that part
  Place in(Marshaller other) {
    if (other == marshaller) return this;
    return new Place(stoa, other, address);
  }

  /// The log address.
  public LogAddress address() {
    return address;
  }

  /// The place at which the shared objects are seen that the current thread reads; null when they
  /// are live.
  public static @Nullable Place current(SharedStoa stoa) {
    if (!READING.isBound()) return null;
    Place place = READING.get();
    return place.stoa == stoa ? place : null;
  }

  /// What an answer says, with all shared objects as they are seen here.
  public @Nullable Object seen(ObjectAnswer answer) throws Throwable {
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
  public @Nullable Object seen(@Nullable Object value) {
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
