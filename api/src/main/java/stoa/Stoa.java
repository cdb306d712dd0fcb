package stoa;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.spi.Collections;
import stoa.spi.Engine;

/// A store of shared objects.
///
/// An object is named by its type and key. [#get] answers a proxy of the object's own type; a call
/// on the proxy executes on the object, after every call logged before it, and returns when its
/// effect is durable. Arguments and answers are values: caller and object never share one. A shared
/// object passed as an argument, returned, or kept in a field of another travels as its reference.
///
/// Calls throw what the method throws, and [StoaException]s. Thread-safe, and so are the proxies.
public interface Stoa extends AutoCloseable {

  /// Opens the store at a URL with the standard configuration: `memory:` for one that lives in this
  /// process's memory, `file:DIRECTORY` for one in a directory, created when absent,
  /// `stoa://HOST:PORT` for one in a server.
  static Stoa open(String url) {
    return open(StoaConfig.of(url));
  }

  /// Opens a store.
  ///
  /// @throws IllegalArgumentException when no engine on the class path opens such URLs
  /// @throws Corrupt when the directory holds data that cannot be read
  /// @throws Unavailable when another process has the directory open, or it cannot be used, or no
  ///   server answers
  static Stoa open(StoaConfig config) {
    String scheme = config.scheme();
    for (Engine engine : ServiceLoader.load(Engine.class)) {
      if (engine.opens(scheme)) return engine.open(config);
    }
    throw new IllegalArgumentException(
        "nothing on the class path opens \""
            + config.url()
            + "\"; use memory: or file:DIRECTORY, with stoa-objects on the class path, or"
            + " stoa://HOST:PORT, with stoa-client");
  }

  /// A proxy of the object, which comes to be with the first call on it that is not an accessor.
  /// Nothing is read or written here.
  ///
  /// @param args what the constructor is given, after the key where [Shared#key()] is set; used
  ///   only by the call that creates the object
  /// @throws NotShareable when the class cannot be shared, with the reason and the remedy
  <T> T get(Class<T> type, Object key, @Nullable Object... args);

  /// Creates the object now.
  ///
  /// @throws AlreadyExists when there is one
  <T> T create(Class<T> type, Object key, @Nullable Object... args);

  /// A proxy of the object if there is one; never creates.
  <T> Optional<T> find(Class<T> type, Object key);

  /// A proxy of the object through a view, or a collection.
  ///
  /// A collection's interface says which one is meant, and the reference where it is: it is that of
  /// [#ref]. A list may be seen as a queue and as a stack. Its keys, values or elements are of the
  /// classes that it was begun with. A [ShardedMap] and a [SharedBTree] are composed of several
  /// objects: they have no version, and no view that follows all of them at one moment.
  ///
  /// @param type the class of the object, or any interface with the same stored name and the same
  ///   implementation; or the interface of a collection
  /// @throws NotShareable when the type is stored under the name of the reference's, and has
  ///   another implementation
  /// @throws IllegalArgumentException when the type is stored under another name, or the view is of
  ///   a version or log address that is not there yet, or [View.Client] of an object that does not
  ///   exist
  /// @throws UnsupportedOperationException when the view is [View.Local], [View.Cached],
  ///   [View.Client] or [View.AtVersion] of a collection that is composed of several objects; or a
  ///   [View.Client] of a [Blob], of an object that cannot be lent, or for a client that is
  ///   [Membership.Outside]
  /// @throws LimitExceeded when the view is [View.Client], and the object's state is larger than
  ///   [Limits#callBytesMax()]
  <T> T view(Class<T> type, Ref<?> ref, View view);

  /// The reference of a shared object.
  ///
  /// @throws IllegalArgumentException when the argument is no proxy of a shared object
  <T> Ref<T> ref(T shared);

  /// Deletes the object. Its history stays; proxies that have called it throw [Gone] from now on.
  /// One of [#get] or [#create] that has not called it begins a new object under the key.
  ///
  /// @return whether there was one to delete
  boolean delete(Object shared);

  /// The objects of a type that exist now.
  <T> Listing<T> list(Class<T> type);

  /// Makes one call without waiting for it. Calls that one thread makes on one object in this way
  /// execute in the order in which they were made.
  ///
  /// @param call makes exactly one call on the object it is given and returns its answer as it is;
  ///   do more with it in [CompletableFuture#thenApply]
  /// @throws UnsupportedOperationException for a [Blob], which has asynchronous methods of its own
  <T, R extends @Nullable Object> CompletableFuture<R> async(T shared, Call1<T, R> call);

  /// The same object through a proxy or facade whose single calls take no longer than a time each:
  /// waiting for others and running together, from when the call is made. A call whose time is over
  /// fails with [DeadlineExceeded], and what it had changed at its object is taken back; calls that
  /// its method makes on other objects have no more time than it has left.
  ///
  /// Calls that execute at clients ([Placement#CLIENT]) are not limited by it.
  ///
  /// What is passed on to others, as an argument or in a field, is the object without the limit. In
  /// transactions [TxOptions#timeMax()] counts instead. For a method marked [Transactional] this
  /// time is [TxOptions#totalTimeMax()].
  ///
  /// @param timeMax positive, in units of 50 ms, rounded up; a longer time than
  ///   [Limits#callTimeMax()] is that
  /// @throws IllegalArgumentException when the time is not positive
  /// @throws UnsupportedOperationException for a [Blob]
  <T> T within(Duration timeMax, T shared);

  /// Takes a snapshot of all objects as they are now. Instant: nothing is copied or logged.
  Snapshot snapshot();

  /// Takes a snapshot and keeps it, over closing and opening again, until [#deleteSnapshot].
  /// Durable when this returns.
  ///
  /// @param name what it is found by
  /// @throws IllegalArgumentException when the name is empty or too long, or holds half of a
  ///   surrogate pair
  /// @throws AlreadyExists when there is a snapshot of that name
  /// @throws LimitExceeded when there are too many
  Snapshot snapshot(String name);

  /// The snapshot of a name.
  Optional<Snapshot> findSnapshot(String name);

  /// The snapshots with names, the oldest first.
  List<Snapshot> snapshots();

  /// Deletes a snapshot: what it shows may be trimmed.
  ///
  /// @return whether there was one to delete
  boolean deleteSnapshot(String name);

  /// Runs a body as a transaction: all that its calls change becomes durable and visible at once,
  /// or not at all (vCorfu, section 4.3). Transactions, single calls and reads are strictly
  /// serializable together; see [Order#GLOBAL] on calls whose methods call other objects.
  ///
  /// Calls that the body's thread makes on proxies of this store take part; each sees all objects
  /// as they were when the transaction began, and the transaction's own changes. When an object
  /// that it read or wrote was changed by another meanwhile, nothing is written and the body runs
  /// again. A transaction that only reads never conflicts and disturbs nobody. What the body throws
  /// rolls it back. Within another transaction it is nested: it joins that one's moment, and when
  /// it throws only its own changes are dropped.
  ///
  /// [#async] calls are refused inside. [Blob]s and [#streams] take no part: what is written to
  /// them stands, whatever becomes of the transaction.
  ///
  /// @return what the body returned
  /// @throws Aborted when other calls always won, [TxOptions#attemptsMax()] times or for
  ///   [TxOptions#totalTimeMax()]; the message names the object over which they won most often
  /// @throws UnknownOutcome when the store failed while the transaction was being written
  /// @throws LimitExceeded when it reads and writes too much; nothing was written
  default <R extends @Nullable Object, X extends Exception> R transact(Body<R, X> body) throws X {
    return transact(TxOptions.STANDARD, body);
  }

  /// As [#transact(Body)], for a body that answers nothing.
  default <X extends Exception> void transact(Action<X> body) throws X {
    Object _ = transact(TxOptions.STANDARD, answering(body));
  }

  private static <X extends Exception> Body<Object, X> answering(Action<X> body) {
    var nothing = new Object();
    return () -> {
      body.run();
      return nothing;
    };
  }

  /// As [#transact(Body)], in another way.
  <R extends @Nullable Object, X extends Exception> R transact(TxOptions options, Body<R, X> body)
      throws X;

  /// Begins a transaction that the program itself commits.
  Transaction begin(TxOptions options);

  /// What became of a transaction whose outcome was [Transaction.Outcome.Unknown], in a store that
  /// was opened again since.
  Transaction.Outcome outcome(Transaction.Id id);

  /// Runs a body as one operation on objects that are placed at clients: they migrate to where it
  /// runs, and stay there until it ends. Nobody sees a state in between. What the body throws
  /// changes nothing.
  ///
  /// @param shared all objects that the body calls
  /// @param body makes its calls on the calling thread; may run again when this process was
  ///   disconnected from the others meanwhile
  /// @throws IllegalArgumentException when an object is not placed at clients, and this process has
  ///   no [View.Client] of it, when two are of different domains ([Shared#domain()]), or there are
  ///   none
  /// @throws UnsupportedOperationException where the store takes no part in migration
  default <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, Body<R, X> body) throws X {
    throw new UnsupportedOperationException(
        "this store has no objects that are placed at clients; open memory: or file:DIRECTORY");
  }

  /// As [#together(Collection, Body)], for a body that answers nothing.
  default <X extends Exception> void together(Collection<?> shared, Action<X> body) throws X {
    Object _ = together(shared, answering(body));
  }

  /// Waits until all is durable that this client has done to, and seen of, objects that are placed
  /// at clients: it is in the store, and stays, whoever vanishes. All other calls are durable when
  /// they return, and so are those on client-placed objects of a store in this process.
  ///
  /// @throws UnknownOutcome when this client was disconnected since its last flush, so that what it
  ///   has done since may be lost; said once
  /// @throws DeadlineExceeded when that is not known in time; flush again
  default void flush() {}

  /// The past of an object.
  ///
  /// @throws UnsupportedOperationException for a [Blob], whose past is in its snapshots
  <T> History<T> history(T shared);

  /// The streams that objects are kept in, and streams of the caller's own beside them.
  StreamStore streams();

  /// The listenable key-value store: values under keys of its own, and listeners that are told of
  /// what is put.
  KeyValueStore store();

  /// Waits for the calls under way, up to [Limits#closeTimeMax()], and closes the store. Calls that
  /// come later throw [Closed].
  @Override
  void close();

  // ---- collections

  /// The shared hash map of a name. Like all collections, it comes to be with the first call that
  /// changes it, and is shared by all who name it. The classes that it is begun with stay the same,
  /// except that one which is not on the class path any more may have another in its place: it was
  /// renamed.
  ///
  /// @param keys the class of its keys, with `equals` and `hashCode` over their contents
  /// @param values the class of its values
  /// @throws UnsupportedOperationException when stoa-collections is not on the class path
  /// @throws NotShareable when keys or values cannot travel, or keys have no stable hash
  /// @throws IllegalArgumentException when it was begun with other classes, as for all collections
  default <K, V> SharedMap<K, V> map(String name, Class<K> keys, Class<V> values) {
    return Collections.installed().map(this, name, keys, values);
  }

  /// The shared sorted map of a name, in the natural order of its keys.
  ///
  /// @throws IllegalArgumentException when it was begun with another order
  default <K extends Comparable<? super K>, V> SharedNavigableMap<K, V> navigableMap(
      String name, Class<K> keys, Class<V> values) {
    return Collections.installed().navigableMap(this, name, keys, values, null);
  }

  /// The shared sorted map of a name, in the order of a comparator, of which each process makes an
  /// instance.
  ///
  /// @param order its class, with a constructor without parameters
  /// @throws IllegalArgumentException when it was begun with another order
  default <K, V> SharedNavigableMap<K, V> navigableMap(
      String name, Class<K> keys, Class<V> values, Class<? extends Comparator<? super K>> order) {
    return Collections.installed().navigableMap(this, name, keys, values, order);
  }

  /// The shared map from ranges to values of a name.
  default <K extends Comparable<? super K>, V> SharedRangeMap<K, V> rangeMap(
      String name, Class<K> keys, Class<V> values) {
    return Collections.installed().rangeMap(this, name, keys, values);
  }

  /// The shared list of a name.
  default <E> SharedList<E> list(String name, Class<E> elements) {
    return Collections.installed().list(this, name, elements);
  }

  /// The shared list of a name, as a queue.
  default <E> SharedQueue<E> queue(String name, Class<E> elements) {
    return Collections.installed().queue(this, name, elements);
  }

  /// The shared list of a name, as a stack.
  default <E> SharedStack<E> stack(String name, Class<E> elements) {
    return Collections.installed().stack(this, name, elements);
  }

  /// The shared hash map of a name that is composed of many maps.
  ///
  /// @param shards how many, 1 to 65,536; fixed when the map is begun
  /// @throws IllegalArgumentException when it was begun with another number
  default <K, V> ShardedMap<K, V> shardedMap(
      String name, Class<K> keys, Class<V> values, int shards) {
    return Collections.installed().shardedMap(this, name, keys, values, shards);
  }

  /// The shared B-tree of a name.
  default <K extends Comparable<? super K>, V> SharedBTree<K, V> bTree(
      String name, Class<K> keys, Class<V> values) {
    return Collections.installed().bTree(this, name, keys, values);
  }
}
