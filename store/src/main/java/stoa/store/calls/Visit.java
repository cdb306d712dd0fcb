package stoa.store.calls;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;

/// A call that a handler makes on a key of another store with the same order, see [Neighbors].
/// Immutable.
///
/// @param id its identity, which repeated requests share
/// @param kind the kind of the call
/// @param target the key
/// @param call the value of a put, or the question
/// @param existence the expectation of the key
/// @param counter for a PUT, the log counter of the put whose handler calls, which this one
///   exceeds; for a PAST or MOMENT, the counter at which the question reads; otherwise 0
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
  /// The kind of a visit.
  public enum Kind {
    /// A put, which the other store executes exactly once.
    PUT,
    /// A question about the present.
    GET,
    /// A question about the past.
    PAST,
    /// A question about the past, as a part of one question about the present. Keys that share no
    /// order answer it for the present.
    MOMENT
  }

  /// The identity of a visit. For a PUT, it is the same in every run of the handler that calls.
  ///
  /// @param caller the stream of the key whose handler calls
  /// @param call the stream address of the put that this handler executes
  /// @param number the number of the call in its run; for a question, any number that the owner
  ///   chooses
  /// @param owner the term of the leader of the caller's store; 0 for a PUT
  public record Id(StreamId caller, long call, long number, long owner) {}

  /// The reply to a visit.
  ///
  /// @param answer the answer as encoded by the handler, or by its factory when the store refused;
  ///   null while the visit is in progress
  /// @param reach the log counter up to which the answer reaches
  public record Reply(byte @Nullable [] answer, long reach) {
    public static final Reply GOES_ON = new Reply(null, 0);
  }

  /// The next call in the wait chain of a visit, within one store.
  ///
  /// @param keys the keys of the chain
  /// @param waits the first call of the chain that waits for its turn, and can be refused; 0 when
  ///   none does
  /// @param next the visit to another store for which the chain waits in the end; null for none
  /// @param target the key of that visit
  public record NextWait(List<Key> keys, long waits, @Nullable Id next, @Nullable Key target) {
    public static final NextWait NONE = new NextWait(List.of(), 0, null, null);
  }

  /// Returns whether it asks for the past.
  public boolean isPast() {
    return kind == Kind.PAST || kind == Kind.MOMENT;
  }

  /// Returns whether it is a put.
  public boolean isPut() {
    return kind == Kind.PUT;
  }
}
