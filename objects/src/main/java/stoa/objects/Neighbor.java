package stoa.objects;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.base.Encoder;
import stoa.base.Existence;
import stoa.front.ClassNames;
import stoa.front.ObjectAnswer;
import stoa.front.marshal.Marshaller;
import stoa.front.types.SharedType;

/// Another group whose objects this group calls, with values in the numbers of its dictionary.
/// Thread-safe.
final class Neighbor {
  private final Catalog catalog;
  private final int callBytesMax;
  private final NeighborNames names;
  private final Map<LoadedCode, Marshaller> marshallers = new HashMap<>(); // guarded by this

  Neighbor(Catalog catalog, int callBytesMax, NeighborNames.Asking asking) {
    this.catalog = catalog;
    this.callBytesMax = callBytesMax;
    this.names = new NeighborNames(asking);
  }

  /// Returns the marshaller of a code's values in the numbers of the group. It creates it on
  /// demand, since that asks the group.
  private synchronized Marshaller marshaller(LoadedCode code) {
    return marshallers.computeIfAbsent(code, _ -> code.marshaller(names));
  }

  byte[] call(ObjectHandler.Question question) {
    SharedType shared = question.type().shared();
    LoadedCode code = question.type().code();
    // The name of the class comes first: a group that lacks the code of the type gets the code now,
    // with the classes of its values.
    var _ = names.idOf(ClassNames.CLASS + shared.name() + " " + shared.face().getName());
    marshaller(code).register(shared);
    int number = names.idOf(ClassNames.METHOD + shared.name() + "#" + question.method().id()) + 1;
    byte[] arguments =
        encoded(code, () -> marshaller(code).arguments(question.method(), question.arguments()));
    byte[] call = new Encoder(10).varint(number).followedBy(arguments);
    if (call.length <= callBytesMax) return call;
    throw new LimitExceeded(
        "the arguments of "
            + question.method()
            + " take "
            + call.length
            + " bytes; callBytesMax is "
            + callBytesMax);
  }

  /// @param code the code that encoded the constructor's arguments
  Existence existence(Existence own, LoadedCode code) {
    return switch (own) {
      case Existence.Any(byte[] opening) -> new Existence.Any(opening(opening, code));
      case Existence.Absent(byte[] opening) -> new Existence.Absent(opening(opening, code));
      case Existence.Undeleted(byte[] opening) -> new Existence.Undeleted(opening(opening, code));
      case Existence.Generation(long generation, byte[] opening) ->
          new Existence.Generation(generation, opening(opening, code));
    };
  }

  private byte @Nullable [] opening(byte @Nullable [] own, LoadedCode code) {
    if (own == null) return null;
    Object arguments = code.marshaller().value(own);
    return encoded(code, () -> marshaller(code).value(arguments));
  }

  /// Returns the group's answer in the numbers of this group.
  ///
  /// @param code the code of the caller
  /// @param keys finds the classes of keys in references
  byte[] translated(byte[] answer, LoadedCode code, ClassLoader keys) {
    if (answer[0] == ObjectAnswer.LENT) return answer;
    Marshaller own = code.marshaller();
    try {
      Object value = encoded(code, () -> new Read(read(answer, marshaller(code), keys))).value;
      return new ObjectAnswer.Travelling(ObjectAnswer.RETURNED, own.value(value)).encoded();
    } catch (NotShareable unknown) {
      // The call was executed; this describes the unreadable answer to the caller.
      return new ObjectAnswer.Travelling(ObjectAnswer.THREW, own.thrown(unknown)).encoded();
    } catch (Threw threw) {
      return new ObjectAnswer.Travelling(ObjectAnswer.THREW, own.thrown(threw.thrown)).encoded();
    }
  }

  /// Returns the exception of a constructor in the group, for the calling method.
  ///
  /// @param keys finds the classes of keys in references
  RuntimeException refusal(byte[] thrown, ClassLoader keys) {
    LoadedCode code = catalog.program();
    Throwable refusal =
        encoded(code, () -> marshaller(code).thrown(thrown, 0, thrown.length, keys));
    if (refusal instanceof RuntimeException unchecked) return unchecked;
    return new NotShareable("the constructor throws " + refusal, refusal);
  }

  private record Read(@Nullable Object value) {}

  private static final class Threw extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Throwable thrown;

    private Threw(Throwable thrown) {
      super(null, null, false, false);
      this.thrown = thrown;
    }
  }

  private static @Nullable Object read(byte[] answer, Marshaller in, ClassLoader keys) {
    if (answer[0] == ObjectAnswer.THREW) {
      throw new Threw(in.thrown(answer, 1, answer.length, keys));
    }
    return in.value(answer, 1, answer.length, keys);
  }

  /// Refuses an unreadable answer.
  ///
  /// @param in uses the numbers of the answer
  static void check(byte[] answer, Marshaller in, ClassLoader keys) {
    try {
      var _ = read(answer, in, keys);
    } catch (Threw fine) {
      // It is readable.
    }
  }

  /// Repeats the work after registering all known classes, when the group does not know one.
  private <T> T encoded(LoadedCode code, Supplier<T> work) {
    try {
      return work.get();
    } catch (NotShareable unknown) {
      if (!catalog.registerAll(code, marshaller(code))) throw unknown;
      return work.get();
    }
  }
}
