package stoa.front;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.base.CallId;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.base.Timing;

/// The durable side of client-placed objects: the interface through which `stoa.migration` uses a
/// store in this process. Thread-safe.
public interface PlacedStore extends PlacedObjects {
  /// A new state for an object.
  ///
  /// @param life the generation of the state
  record Change(PlacedObject object, long life, PlacedState state) {}

  /// The state of an object in the store.
  ///
  /// @param life the generation that it is in, or would begin
  /// @param state null when it does not exist
  record Stored(long life, @Nullable PlacedState state) {
    /// Returns the bytes as the marshaller wrote them; empty when the object does not exist.
    public byte[] bytes() {
      return state == null ? new byte[0] : state.bytes();
    }
  }

  /// Returns the root of the tree of a domain, of a store that is open in this process.
  ///
  /// @throws IllegalArgumentException when the store is elsewhere
  /// @throws UnsupportedOperationException when stoa-migration is not on the class path
  static Placing.Root placing(Stoa stoa, String domain) {
    return roots(stoa).placing(domain);
  }

  /// Returns the objects of a store that is open in this process.
  ///
  /// @throws IllegalArgumentException when the store is elsewhere
  static PlacedObjects of(Stoa stoa) {
    return roots(stoa).placed();
  }

  private static Placing.Roots roots(Stoa stoa) {
    if (stoa instanceof SharedStoa shared && shared.service() instanceof Placing.Roots here) {
      return here;
    }
    throw Refusals.elsewhere(stoa);
  }

  /// Returns a number above that of every earlier opening of the store.
  long epoch();

  /// Returns whether clients of an earlier process may still expect their objects here: the store
  /// has a server, and was open before.
  boolean mayHaveOthers();

  /// Returns whether another process may take the store over while clients of this one live: the
  /// store has a server and several replicas.
  boolean hasSuccessors();

  /// Returns the nodes directly below the root of a tree, as the last root has listed them.
  ///
  /// @throws stoa.Unavailable when the store cannot answer
  Collection<String> children(String domain);

  /// Replaces that list; durable on return.
  ///
  /// @throws stoa.Unavailable when the store accepts nothing any more
  void keepChildren(String domain, Collection<String> nodes);

  /// Returns the object of a stream, present or deleted; null when the store has none.
  ///
  /// @throws stoa.NotShareable when the store has no class of its type
  /// @throws UnsupportedOperationException when it cannot be at clients
  @Nullable PlacedObject find(StreamId stream);

  /// Returns the timing of the process that has the store.
  Timing timing();

  /// Returns the time of day.
  Clock clock();

  /// Returns the time, in nanoseconds, from which on no other process has the objects.
  long freeNanos();

  /// Returns the stored state of an object.
  ///
  /// @throws stoa.Unavailable when the store cannot answer
  Stored load(PlacedObject object);

  /// Returns the store's data of an object that the caller knows to be absent.
  ///
  /// @throws stoa.Unavailable when the store cannot answer
  Stored deleted(PlacedObject object);

  /// Returns whether an object is lent to clients; false when it is absent.
  ///
  /// @throws stoa.Unavailable when the store cannot answer
  boolean isLent(PlacedObject object);

  /// Lends an object to clients: the store refuses all calls logged from then on, until
  /// [#takeBack]. Durable on return.
  ///
  /// @throws IllegalArgumentException when there is no such object
  /// @throws stoa.LimitExceeded when its state is too large for a message
  void lend(PlacedObject object);

  /// Ends a loan, with the last state that was put.
  void takeBack(PlacedObject object);

  /// Deletes an object; durable on return.
  ///
  /// @param id the log has it with the deletion; null for none
  /// @return the ended generation
  /// @throws stoa.Gone when the object is absent, or of another generation
  long delete(PlacedObject object, @Nullable CallId id);

  /// Makes states the next versions of their objects, together or not at all; durable on return. It
  /// drops the states of lent objects whose life has ended.
  ///
  /// @param changes may be empty: then the call only checks that this process still leads the store
  /// @throws stoa.Unavailable when the store accepts nothing any more
  void persist(List<Change> changes);
}
