package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.base.Answer;
import stoa.base.Encoder;
import stoa.front.marshal.Marshaller;

/// The outcome of a method: it returned, or threw.
///
/// ```
/// encoded:  1 u8, the value as the marshaller writes it      it returned
///           2 u8, the throwable as the marshaller writes it  it threw
///           3 u8                                             it was not called: the object is lent
///           4 u8                                             it changed nothing, and waits
/// ```
public sealed interface ObjectAnswer extends Answer {
  /// The first byte of an answer of a method that returned.
  int RETURNED = 1;

  /// The first byte of an answer of a method that threw.
  int THREW = 2;

  /// The only byte of an answer that nothing was done, since the object is lent to clients.
  int LENT = 3;

  /// The only byte of an answer that the call changed nothing and waits for a condition.
  int WAITS = 4;

  /// Returns the result for the caller.
  ///
  /// @throws Throwable what the method threw
  @Nullable Object get(Marshaller marshaller) throws Throwable;

  /// The method returned a value that caller and object may share, because it is immutable.
  ///
  /// @param value the value
  /// @param marshaller encodes it for the log
  record Shared(@Nullable Object value, Marshaller marshaller) implements ObjectAnswer {
    @Override
    public @Nullable Object get(Marshaller unused) {
      return value;
    }

    @Override
    public byte[] encoded() {
      return ObjectAnswer.encode(RETURNED, marshaller.value(value));
    }

    @Override
    public boolean isSilent() {
      return value == null;
    }
  }

  /// The method returned a value or threw, in encoded form.
  ///
  /// @param what [#RETURNED] or [#THREW]
  /// @param bytes the value or throwable
  record Travelling(int what, byte[] bytes) implements ObjectAnswer {
    @Override
    public @Nullable Object get(Marshaller marshaller) throws Throwable {
      if (what == RETURNED) return marshaller.value(bytes);
      throw marshaller.thrown(bytes);
    }

    @Override
    public byte[] encoded() {
      return ObjectAnswer.encode(what, bytes);
    }
  }

  /// The method did not run, and nothing has changed: the object is lent to clients.
  record Lent() implements ObjectAnswer {
    @Override
    public @Nullable Object get(Marshaller unused) {
      throw new PlacedObjects.LentToClients();
    }

    @Override
    public byte[] encoded() {
      return new byte[] {LENT};
    }
  }

  /// The method waits for a condition, and nothing has changed. Callers do not get this answer.
  ///
  /// @param isTimed whether its condition depends on the time
  record Waits(boolean isTimed) implements ObjectAnswer {
    @Override
    public @Nullable Object get(Marshaller unused) {
      throw waits();
    }

    @Override
    public byte[] encoded() {
      return new byte[] {WAITS};
    }

    @Override
    public boolean isWaiting() {
      return true;
    }
  }

  private static IllegalStateException waits() {
    return new IllegalStateException("the call waits for a condition, and has no result");
  }

  private static byte[] encode(int what, byte[] bytes) {
    return new Encoder(1).u8(what).followedBy(bytes);
  }

  /// Returns the result in an encoded answer.
  ///
  /// @throws PlacedObjects.LentToClients when the object is lent
  /// @throws Throwable what the method threw
  static @Nullable Object get(byte[] encoded, Marshaller marshaller) throws Throwable {
    return switch (encoded[0]) {
      case RETURNED -> marshaller.value(encoded, 1, encoded.length);
      case THREW -> throw marshaller.thrown(encoded, 1, encoded.length);
      case LENT -> throw new PlacedObjects.LentToClients();
      case WAITS -> throw waits();
      default -> throw new Corrupt("an answer of kind " + encoded[0]);
    };
  }
}
