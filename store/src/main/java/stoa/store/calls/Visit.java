package stoa.store.calls;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;

/// A call that a handler makes on a key of another store with the same order, see [Neighbors].
/// Immutable.
///
/// @param id by which it is known when it is asked again
/// @param kind what is asked
/// @param target the key
/// @param call what is put, or what is asked
/// @param existence what is expected of the key
/// @param counter of a PUT, the log counter of the put whose handler calls: this one has a higher
///   one; of a PAST or MOMENT, as of which is asked; else 0
/// @param callers the keys whose handlers wait for it, outermost first, as far as is known
/// @param millisMax how long it may take, its waiting and its run together; 0 when only its run is
///   limited
public record Visit(
    Id id,
    Kind kind,
    Key target,
    Object call,
    Existence existence,
    long counter,
    List<Key> callers,
    int millisMax) {
  /// What is asked.
  public enum Kind {
    /// To execute a put, exactly once.
    PUT,
    /// A question about the present.
    GET,
    /// A question about the past.
    PAST,
    /// A question about the past, as a part of one question about the present: keys that share no
    /// order are asked as they are.
    MOMENT
  }

  /// The identity of a visit. That of a PUT is the same in every run of the handler that calls.
  ///
  /// @param caller the stream of the key whose handler calls
  /// @param call the stream address of the put that this handler executes
  /// @param number which of its calls it is; of a question, any number of the owner's
  /// @param owner the term of the leader of the caller's store; 0 of a PUT
  public record Id(StreamId caller, long call, long number, long owner) {}

  /// What has become of a visit.
  ///
  /// @param answer as the handler encodes it, or its factory when the store refused; null while the
  ///   visit goes on
  /// @param reach the log counter up to which the answer reaches
  public record Said(byte @Nullable [] answer, long reach) {
    public static final Said GOES_ON = new Said(null, 0);
  }

  /// The next call in the wait chain of a visit, within one store.
  ///
  /// @param keys the keys on the way
  /// @param waits the first call on the way that waits for its turn, and can be refused; 0 when
  ///   none does
  /// @param next the visit to another store for which it waits in the end; null when there is none
  /// @param target the key of that visit
  public record NextWait(List<Key> keys, long waits, @Nullable Id next, @Nullable Key target) {
    public static final NextWait NONE = new NextWait(List.of(), 0, null, null);
  }

  public boolean isPast() {
    return kind == Kind.PAST || kind == Kind.MOMENT;
  }

  public boolean isPut() {
    return kind == Kind.PUT;
  }
}
