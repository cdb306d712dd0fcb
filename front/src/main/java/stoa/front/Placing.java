package stoa.front;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import stoa.Reads;
import stoa.TransactionAction;
import stoa.Tree;
import stoa.base.CallId;
import stoa.front.types.SharedMethod;

/// The execution of calls on objects placed at clients. Thread-safe.
public interface Placing {
  /// Makes a call.
  ///
  /// @param reads the freshness of an accessor
  /// @throws Throwable what the method throws
  @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments, Reads reads)
      throws Throwable;

  /// Returns the same object through a proxy whose calls execute here; the store lends the object
  /// if necessary.
  <T> T view(T shared, Reads reads);

  /// Creates an object.
  ///
  /// @throws stoa.AlreadyExists when there is one
  /// @throws Throwable what the constructor throws
  void create(PlacedObject object) throws Throwable;

  /// Returns where an object is, see [Tree#where].
  Tree.Whereabouts where(PlacedObject object);

  /// Returns the place of this process in the tree.
  Tree.Place place();

  /// Runs a body on several objects, see [stoa.Stoa#together].
  <X extends Exception> void together(Collection<PlacedObject> objects, TransactionAction<X> body)
      throws X;

  /// The execution of such calls in the process of the store itself.
  interface Root extends Placing, AutoCloseable {
    /// Keeps a migrating object in the store while the store executes calls on the object, as on
    /// any other object. Waits for nothing.
    ///
    /// @return run it once when the calls have ended, on any thread; null when the object is not in
    ///   the store, or is about to leave it
    @Nullable Runnable enter(PlacedObject object);

    /// Notes that a call has met a lent object and could not execute: the object comes back unless
    /// a client asks for it. Waits for nothing.
    void met(PlacedObject object);

    /// Deletes an object that migrates; on return the deletion is durable and no client calls the
    /// object any more.
    ///
    /// @param id the log has it with the deletion; null for none
    /// @return the ended generation
    /// @throws stoa.Gone when the object is absent
    long delete(PlacedObject object, @Nullable CallId id);

    /// Finishes the deletion of an object that lives in the store. If it was lent, no client calls
    /// it any more on return.
    void deleted(PlacedObject object);

    /// Returns whether [#deleted] may have work for an object. Quick.
    boolean isKnown(PlacedObject object);

    /// Refuses an operation in the middle of an operation on several objects.
    ///
    /// @throws IllegalStateException when such an operation runs on this thread
    void refuseInside(String what);

    /// Returns whether it has failed, so that a new one must replace it.
    boolean isOver();

    /// Releases the store, which is about to close.
    @Override
    void close();

    /// Waits, after [#close], until no call that began here is in progress in the store.
    ///
    /// @throws stoa.Unavailable when a call is still in progress after [stoa.Limits#closeTimeMax()]
    void awaitCalls();
  }

  /// The roots of the domains of a store in this process.
  interface Roots {
    /// Returns the root of a domain, and begins it if necessary.
    ///
    /// @throws stoa.LimitExceeded when there are too many domains
    /// @throws UnsupportedOperationException when stoa-migration is not on the class path
    Root placing(String domain);

    /// Returns the store's objects.
    PlacedObjects placed();
  }

  /// A store of this process, for the server that serves its tree to other processes.
  interface Served {
    /// Returns the root of a domain, see [Roots#placing].
    Root placing(String domain);

    /// Returns whether the log has failed, or another process has it now: no answer after that is
    /// reliable.
    boolean hasFailed();

    /// Refuses when the store accepts nothing any more.
    ///
    /// @throws stoa.Unavailable in that case
    void checkUsable();

    /// Returns an object that a client names. The object migrates or may be lent.
    ///
    /// @param type the stored name of its type
    /// @param key its encoded key
    /// @throws stoa.NotShareable when the store has no class of that type, or the key is invalid
    /// @throws UnsupportedOperationException when it cannot be at clients
    PlacedObject placed(String type, byte[] key);
  }

  /// Begins a root for each domain of a store that has such objects. [java.util.ServiceLoader]
  /// finds it.
  interface Provider {
    /// Begins a root.
    ///
    /// @param domain the domain of its objects
    /// @param before the number of roots of any domain that began since the store was opened
    Root begin(PlacedStore store, String domain, int before);
  }
}
