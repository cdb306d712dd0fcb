package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.front.marshal.Marshaller;

/// A log position at which callers see objects. While a view of it is reachable, the store keeps
/// its versions. Immutable; equal to others at the same address of the same store.
@SuppressWarnings("ReferenceEquality") // Justification: a store is itself
public final class Place {
  // Bound while a thread decodes an answer whose shared objects are views at a place.
  private static final ScopedValue<Place> READING = ScopedValue.newInstance();

  private final SharedStoa stoa;
  private final Marshaller marshaller;
  private final LogAddress address;

  /// Creates a place in the log of a store.
  ///
  /// @param stoa the store
  /// @param marshaller the store's, whose references ask for [#current]
  Place(SharedStoa stoa, Marshaller marshaller, LogAddress address) {
    this.stoa = stoa;
    this.marshaller = marshaller;
    this.address = address;
  }

  /// Returns the same place for answers of another part of the store.
  ///
  /// @param other the marshaller of that part
  Place in(Marshaller other) {
    if (other == marshaller) return this;
    return new Place(stoa, other, address);
  }

  /// Returns the log address.
  public LogAddress address() {
    return address;
  }

  /// Returns the place of the shared objects that the current thread decodes; null when they are
  /// live.
  public static @Nullable Place current(SharedStoa stoa) {
    if (!READING.isBound()) return null;
    Place place = READING.get();
    return place.stoa == stoa ? place : null;
  }

  /// Returns the content of an answer, with views at this place as its shared objects.
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

  /// Returns a value with views at this place as its shared objects.
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
