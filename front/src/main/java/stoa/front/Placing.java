package stoa.front;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import stoa.Reads;
import stoa.TransactionAction;
import stoa.base.CallId;
import stoa.front.types.SharedMethod;

/// Where the calls on objects go that are at clients. Thread-safe.
public interface Placing {
  /// Makes a call.
  ///
  /// @param reads what it sees, if it is an accessor
  /// @throws Throwable what the method throws
  @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments, Reads reads)
      throws Throwable;

  /// The same object through a proxy whose calls execute here, lent if need be.
  <T> T view(T shared, Reads reads);

  /// Begins an object.
  ///
  /// @throws stoa.AlreadyExists when there is one
  /// @throws Throwable what the constructor throws
  void create(PlacedObject object) throws Throwable;

  /// See [stoa.Stoa#together].
  <X extends Exception> void together(Collection<PlacedObject> objects, TransactionAction<X> body)
      throws X;

  /// Where those go that are made on a store itself, in its process.
  interface Root extends Placing, AutoCloseable {
    /// Has an object that migrates stay in the store until calls on it have ended which the store
    /// makes as on any other. Waits for nothing.
    ///
    /// @return is to be run once when they have ended, by any thread; null when the object is not
    ///   in the store, or is about to leave it
    @Nullable Runnable enter(PlacedObject object);

    /// A lent object was met by a call that could not be made: it comes back unless somebody asks
    /// for it. Waits for nothing.
    void met(PlacedObject object);

    /// Deletes an object that migrates; durable when this returns, and nobody calls it any more.
    ///
    /// @param id logged with the deletion; null for none
    /// @return the generation that ended
    /// @throws stoa.Gone when there is none
    long delete(PlacedObject object, @Nullable CallId id);

    /// An object was deleted that lives in the store. When it was lent, nobody calls it at clients
    /// when this returns.
    void deleted(PlacedObject object);

    /// Returns whether [#deleted] may have something to do for an object. Quick.
    boolean isKnown(PlacedObject object);

    /// Refuses what cannot be done in the middle of an operation on several objects.
    ///
    /// @throws IllegalStateException when one runs on this thread
    void refuseInside(String what);

    /// Returns whether it has failed: another one is to begin in its place.
    boolean isOver();

    /// Lets go of the store, which is about to be closed.
    @Override
    void close();

    /// Waits until no call is under way in the store any more that began here, after [#close].
    ///
    /// @throws stoa.Unavailable when there still is one after [stoa.Limits#closeTimeMax()]
    void awaitCalls();
  }

  /// A store of this process, by whose domains calls are made that are made on the store itself.
  interface Roots {
    /// Where calls on the objects of a domain go; begun if need be.
    ///
    /// @throws stoa.LimitExceeded when there are too many domains
    /// @throws UnsupportedOperationException when stoa-migration is not on the class path
    Root placing(String domain);

    /// The store's objects.
    PlacedObjects placed();
  }

  /// A store of this process, as a server that has it serves the tree of other processes.
  interface Served {
    /// See [Roots#placing].
    Root placing(String domain);

    /// Returns whether the log has failed, or another process has it now: nothing that is answered
    /// from then on need be so.
    boolean hasFailed();

    /// Refuses when the store takes nothing any more.
    ///
    /// @throws stoa.Unavailable when that is so
    void checkUsable();

    /// An object that a client names, which migrates or may be lent.
    ///
    /// @param type the stored name of its type
    /// @param key its encoded key
    /// @throws stoa.NotShareable when the store has no class of that type, or no such key can be
    /// @throws UnsupportedOperationException when it cannot be at clients
    PlacedObject placed(String type, byte[] key);
  }

  /// Begins one for each domain of a store that has such objects. Found by
  /// [java.util.ServiceLoader].
  interface Provider {
    /// Begins.
    ///
    /// @param domain whose objects it is for
    /// @param before how many there were before, of any domain, since the store was opened
    Root begin(PlacedStore store, String domain, int before);
  }
}
