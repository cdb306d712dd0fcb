package stoa.front;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.base.CallId;
import stoa.base.Clock;
import stoa.base.Timing;

/// The durable side of client-placed objects: the door through which `stoa.migration` uses a store
/// in this process. Thread-safe.
public interface PlacedStore extends PlacedObjects {
  /// A state that an object is to have.
  ///
  /// @param life the generation that it is of
  record Change(PlacedObject object, long life, PlacedState state) {}

  /// What the store has of an object.
  ///
  /// @param life the generation that it is in, or would begin
  /// @param state null when it does not exist
  record Stored(long life, @Nullable PlacedState state) {
    /// As the marshaller wrote it; empty when it does not exist.
    public byte[] bytes() {
      return state == null ? new byte[0] : state.bytes();
    }
  }

  /// Where the calls on the objects of a domain go, of a store that is open in this process.
  ///
  /// @throws IllegalArgumentException when it is a store elsewhere
  /// @throws UnsupportedOperationException when stoa-migration is not on the class path
  static Placing.Root placing(Stoa stoa, String domain) {
    return roots(stoa).placing(domain);
  }

  /// The objects of a store that is open in this process.
  ///
  /// @throws IllegalArgumentException when it is a store elsewhere
  static PlacedObjects of(Stoa stoa) {
    return roots(stoa).placed();
  }

  private static Placing.Roots roots(Stoa stoa) {
    if (stoa instanceof SharedStoa shared && shared.service() instanceof Placing.Roots here) {
      return here;
    }
    throw Refusals.elsewhere(stoa);
  }

  /// A number above that of every opening of the store before.
  long epoch();

  /// Returns whether clients of another process may believe that this store is with them yet: it is
  /// served, and was opened before.
  boolean mayHaveOthers();

  /// The time of the process that has the store.
  Timing timing();

  /// The time of day.
  Clock clock();

  /// The time, in nanoseconds, when nobody else had the objects any more.
  long freeNanos();

  /// What the store has of an object.
  ///
  /// @throws stoa.Unavailable when the store cannot be asked
  Stored load(PlacedObject object);

  /// What the store has of an object that does not exist, of which that is known.
  ///
  /// @throws stoa.Unavailable when the store cannot be asked
  Stored deleted(PlacedObject object);

  /// Returns whether an object is lent to clients; false when there is none.
  ///
  /// @throws stoa.Unavailable when the store cannot be asked
  boolean isLent(PlacedObject object);

  /// Lends an object to clients: all calls that are logged from then on are refused, until
  /// [#takeBack]. Durable when this returns.
  ///
  /// @throws IllegalArgumentException when there is no such object
  /// @throws stoa.LimitExceeded when its state is too large to travel
  void lend(PlacedObject object);

  /// Ends what [#lend] has begun, with the state that was put last.
  void takeBack(PlacedObject object);

  /// Deletes an object; durable when this returns.
  ///
  /// @param id logged with the deletion; null for none
  /// @return the generation that ended
  /// @throws stoa.Gone when there is none, or not the one that is meant
  long delete(PlacedObject object, @Nullable CallId id);

  /// Makes states the next versions of their objects, together or not at all; durable when this
  /// returns. Those of lent objects whose life has ended are dropped.
  ///
  /// @param changes may be empty: then the store is only asked whether it is still the one
  /// @throws stoa.Unavailable when the store takes nothing any more
  void persist(List<Change> changes);
}
