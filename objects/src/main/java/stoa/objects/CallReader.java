package stoa.objects;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.base.Decoder;
import stoa.base.Footprint;
import stoa.front.marshal.Effort;
import stoa.front.marshal.Marshaller;
import stoa.front.types.SharedMethod;
import stoa.objects.ObjectService.Call;
import stoa.objects.ObjectService.Container;
import stoa.store.Store;

/// Decodes the calls of clients, so that the store never logs an invalid one. Thread-safe.
final class CallReader {
  /// The effort that a thread may spend on decoding.
  private enum Decoding {
    /// Brief: others wait for the thread.
    BRIEF,
    /// As long as a call may take.
    WHOLE
  }

  /// A decoded call.
  ///
  /// @param called the method; null for a mere creation
  /// @param brief whether decoding took little time, so that a thread that others wait for may
  ///   decode it again
  record Decoded(ObjectType.@Nullable Called called, @Nullable Object[] arguments, boolean brief) {
    SharedMethod.@Nullable Kind kind() {
      return called == null ? null : called.method().kind();
    }

    /// Returns the call as the handler of its object is asked.
    ObjectHandler.Question question() {
      ObjectType.Called method = method();
      return new ObjectHandler.Question(method.type(), method.method(), arguments);
    }

    /// Returns the part of its object on which the call works.
    Footprint footprint(Container container) {
      ObjectType.Called method = method();
      return method.type().footprint(container.active(), method.method(), arguments);
    }

    /// Returns the method of a call that is not a mere creation.
    ObjectType.Called method() {
      return Objects.requireNonNull(called, "the call is of a method");
    }
  }

  private final Store store;
  private final Naming naming;
  private final int bytesMax;

  /// @param bytesMax the most bytes of a call
  CallReader(Store store, Naming naming, int bytesMax) {
    this.store = store;
    this.naming = naming;
    this.bytesMax = bytesMax;
  }

  /// Decodes a call.
  Decoded whole(Call call) {
    return decoded(call, Decoding.WHOLE);
  }

  /// Decodes a call on a thread that others wait for.
  ///
  /// @throws NotBrief when that may take long
  Decoded briefly(Call call) {
    return decoded(call, Decoding.BRIEF);
  }

  private Decoded decoded(Call call, Decoding decoding) {
    byte[] opening = call.existence().opening();
    if (opening != null) {
      if (opening.length > bytesMax) {
        throw new LimitExceeded(
            "what "
                + call.container().key()
                + " is to be begun from takes "
                + opening.length
                + " bytes; callBytesMax is "
                + bytesMax);
      }
      if (!(opening(call.container(), opening, decoding) instanceof Object[])) {
        throw new IllegalArgumentException(
            call.container().key() + " is not to be begun from arguments");
      }
    }
    byte[] bytes = call.bytes();
    if (bytes.length > bytesMax) {
      throw new LimitExceeded(
          call + " takes " + bytes.length + " bytes; callBytesMax is " + bytesMax);
    }
    try {
      var in = new Decoder(bytes);
      ObjectType.Called called = call.container().type().called(in);
      if (called == null) {
        if (in.remaining() > 0)
          throw new IllegalArgumentException(call + " has bytes behind the 0");
        return new Decoded(null, new Object[0], true);
      }
      return arguments(call, called, in.position(), decoding);
    } catch (stoa.Corrupt | Decoder.MalformedException malformed) {
      throw new IllegalArgumentException(
          call + " cannot be read: " + malformed.getMessage(), malformed);
    }
  }

  private @Nullable Object opening(Container container, byte[] bytes, Decoding decoding) {
    Marshaller marshaller = container.type().marshaller();
    ClassLoader keys = naming.classesOfKeys(container.type().code());
    return decoding == Decoding.BRIEF
        ? marshaller.value(bytes, keys, Effort.brief())
        : store.limited(container.key(), () -> marshaller.value(bytes, keys, Effort.full()));
  }

  private Decoded arguments(Call call, ObjectType.Called called, int from, Decoding decoding) {
    SharedMethod method = called.method();
    byte[] bytes = call.bytes();
    if (Marshaller.isSimple(method)) {
      // Decoding takes no longer than the bytes did.
      var arguments =
          called
              .type()
              .marshaller()
              .arguments(
                  method, bytes, from, bytes.length, naming.classesOfKeys(called.type().code()));
      return new Decoded(called, arguments, true);
    }
    return decoding == Decoding.BRIEF
        ? arguments(called, bytes, from, called.type().briefReading(method))
        : store.limited(
            call.container().key(), () -> arguments(called, bytes, from, Effort.full()));
  }

  private Decoded arguments(ObjectType.Called called, byte[] bytes, int from, Effort effort) {
    SharedMethod method = called.method();
    ObjectType type = called.type();
    long began = type.beginReading();
    var arguments =
        type.marshaller()
            .arguments(
                method, bytes, from, bytes.length, naming.classesOfKeys(type.code()), effort);
    return new Decoded(called, arguments, type.endReading(method, began));
  }
}
