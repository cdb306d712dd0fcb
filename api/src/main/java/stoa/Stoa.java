package stoa;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.spi.Binding;
import stoa.spi.Collections;
import stoa.spi.Engine;

/// A store of shared objects.
///
/// A type and a key name an object. [#get] returns a proxy of the object's own type. A call on the
/// proxy executes on the object, after every call that the store logged before, and returns when
/// its effect is durable. Arguments and answers are values: caller and object never share one. As
/// an argument, an answer, or a field of another object, a shared object travels as its reference.
///
/// Calls throw the exceptions of the method, and [StoaException]s. The store and its proxies are
/// thread-safe.
public interface Stoa extends AutoCloseable {

  /// Opens the store at a URL with the standard configuration: `memory:` for one in this process's
  /// memory, `file:DIRECTORY` for one in a directory, created if absent, `stoa://HOST:PORT` for one
  /// in a server.
  static Stoa open(String url) {
    return open(StoaConfig.of(url));
  }

  /// Opens a store.
  ///
  /// @throws IllegalArgumentException when no engine on the class path or module path opens such
  ///   URLs
  /// @throws Corrupt when the directory has data that cannot be read
  /// @throws Unavailable when another process has the directory open, the directory cannot be used,
  ///   or no server answers
  static Stoa open(StoaConfig config) {
    String scheme = config.scheme();
    for (Engine engine : ServiceLoader.load(Engine.class)) {
      if (engine.opens(scheme)) return engine.open(config);
    }
    throw new IllegalArgumentException(
        "nothing on the class path or module path opens \""
            + config.url()
            + "\"; use memory: or file:DIRECTORY, with dev.stoa:stoa-embedded, or"
            + " stoa://HOST:PORT, with dev.stoa:stoa-client");
  }

  /// Makes this the store in which woven code finds its shared objects, in the whole process: the
  /// `new` of a class with a [Shared#key()], and the static fields with [Shared]. Methods of shared
  /// objects always use the store of their own object instead. Closing the store ends this.
  ///
  /// @throws IllegalStateException when another open store is bound
  default void bind() {
    Binding.bind(this);
  }

  /// Returns a proxy of the object. The first call on it that is not an accessor creates the
  /// object. This method itself reads and writes nothing.
  ///
  /// @param args the constructor's arguments, after the key where [Shared#key()] is set; only the
  ///   call that creates the object uses them
  /// @throws NotShareable when the class cannot be shared, with the reason and the remedy
  <T> T get(Class<T> type, Object key, @Nullable Object... args);

  /// Creates the object now.
  ///
  /// @throws AlreadyExists when it exists
  <T> T create(Class<T> type, Object key, @Nullable Object... args);

  /// Returns a proxy of the object if it exists; never creates it.
  <T> Optional<T> find(Class<T> type, Object key);

  /// Returns a proxy of the object through a view, or a collection.
  ///
  /// For a collection, pass its interface, and its reference from [#ref]. A list may be viewed as a
  /// queue and as a stack. Its keys, values or elements have the classes with which it began. A
  /// [ShardedMap] and a [SharedBTree] consist of several objects, of which any view shows one
  /// moment. They have no version.
  ///
  /// @param type the class of the object, or any interface with the same stored name and the same
  ///   implementation; or the interface of a collection
  /// @throws NotShareable when the type has the stored name of the reference's and another
  ///   implementation
  /// @throws IllegalArgumentException when the type has another stored name, or the view shows a
  ///   version or log address that does not exist yet, or is a [View.Client] of an absent object
  /// @throws UnsupportedOperationException when the view is [View.Client] or [View.AtVersion] of a
  ///   collection of several objects; or a [View.Client] of a [Blob], of an object that cannot be
  ///   lent, or for a client that is [TreeMembership.Outside]
  /// @throws LimitExceeded when the view is [View.Client], and the object's state is larger than
  ///   [Limits#callBytesMax()]
  <T> T view(Class<T> type, Ref<?> ref, View view);

  /// Returns the reference of a shared object.
  ///
  /// @throws IllegalArgumentException when the argument is not a proxy of a shared object
  <T> Ref<T> ref(T shared);

  /// Deletes the object. Its history stays, as far as [Keep] says; of an object that was trimmed to
  /// its last version, nothing stays ([History#trim]). Proxies that have called it throw [Gone]
  /// from now on. A proxy of [#get] or [#create] that has not called it begins a new object under
  /// the key.
  ///
  /// The deletion takes its turn among the calls on the object, within the limit of [#within], and
  /// [Limits#callTimeMax()] at most.
  ///
  /// @return whether it existed
  /// @throws DeadlineExceeded when the time was over before the deletion was logged; nothing was
  ///   written
  /// @throws UnknownOutcome when the deletion was logged, and still waited for earlier calls when
  ///   the time was over; it is executed after them
  boolean delete(Object shared);

  /// Lists the present objects of a type.
  <T> ObjectListing<T> list(Class<T> type);

  /// Makes one call without waiting for it. Asynchronous calls of one thread on one object execute
  /// in the order in which the thread makes them. Their futures may complete in another order,
  /// since each answer is decoded on a thread of its own.
  ///
  /// To complete or to cancel the future, also by its [CompletableFuture#orTimeout], takes the call
  /// back if it waits for a condition ([Call#await]): it then changes nothing. It does not end a
  /// call that runs, and a call that goes on at this moment stands. The futures that
  /// [CompletableFuture#thenApply] and its like return do not have this effect. [#within] limits
  /// the time of any call.
  ///
  /// @param call makes exactly one call on the object that it gets and returns its answer
  ///   unchanged; process the answer in [CompletableFuture#thenApply]
  /// @throws UnsupportedOperationException for a [Blob], which has asynchronous methods of its own
  <T, R extends @Nullable Object> CompletableFuture<R> async(T shared, Call1<T, R> call);

  /// Returns the same object through a proxy or facade whose single calls have a time limit. It
  /// covers waiting for others and running together, from the moment of the call. A call whose time
  /// ends fails with [DeadlineExceeded], and the store takes back what it had changed at its
  /// object. Calls of its method on other objects have the rest of the time. The limit also applies
  /// to [#delete].
  ///
  /// The limit does not apply to calls that execute at clients ([Placement#CLIENT]).
  ///
  /// As an argument or in a field, the object travels without the limit. In transactions
  /// [TxOptions#timeMax()] counts instead. For a method marked [Transactional] this time is
  /// [TxOptions#totalTimeMax()].
  ///
  /// @param timeMax positive, in units of 50 ms, rounded up; at most [Limits#callTimeMax()] counts,
  ///   except for a call that waits for a condition ([Call#await])
  /// @throws IllegalArgumentException when the time is not positive
  /// @throws UnsupportedOperationException for a [Blob]
  <T> T within(Duration timeMax, T shared);

  /// Takes a snapshot of all objects as they are now. Instant: copies and logs nothing.
  Snapshot snapshot();

  /// Takes a snapshot and keeps it, over closing and opening again, until [#deleteSnapshot].
  /// Durable on return.
  ///
  /// @param name the name of the snapshot
  /// @throws IllegalArgumentException when the name is empty or too long, or contains half of a
  ///   surrogate pair
  /// @throws AlreadyExists when there is a snapshot of that name
  /// @throws LimitExceeded when there are too many
  Snapshot snapshot(String name);

  /// Returns the snapshot of a name.
  Optional<Snapshot> findSnapshot(String name);

  /// Returns the named snapshots, oldest first.
  List<Snapshot> snapshots();

  /// Deletes a snapshot: the store may trim what it shows.
  ///
  /// @return whether it existed
  boolean deleteSnapshot(String name);

  /// Runs a body as a transaction: all changes of its calls become durable and visible at once, or
  /// none (vCorfu, section 4.3). Transactions, single calls and reads are strictly serializable
  /// together; see [LogOrder#GLOBAL] on calls whose methods call other objects.
  ///
  /// Calls by the body's thread on proxies of this store take part. Each sees all objects as they
  /// were when the transaction began, and the transaction's own changes. When another caller has
  /// meanwhile changed an object that the transaction read or wrote, or the part of it that the
  /// transaction used (see [Key]), the store writes nothing and the body runs again. A transaction
  /// that only reads never conflicts and delays no other call. An exception of the body rolls it
  /// back. Inside another transaction it is nested: it reads as of that one's moment, and an
  /// exception drops only its own changes.
  ///
  /// [#async] calls are refused inside. [Blob]s and [#streams] take no part: their writes stand,
  /// whatever the outcome of the transaction.
  ///
  /// @return the result of the body
  /// @throws Aborted when other calls always won, [TxOptions#attemptsMax()] times or for
  ///   [TxOptions#totalTimeMax()]; the message names the object over which they won most often
  /// @throws DeadlineExceeded when an attempt took more than [TxOptions#timeMax()], or than the
  ///   rest of [TxOptions#totalTimeMax()]; it wrote nothing
  /// @throws UnknownOutcome when the store failed while it wrote the transaction
  /// @throws LimitExceeded when the transaction reads or writes too much; it wrote nothing
  default <R extends @Nullable Object, X extends Exception> R transact(TransactionBody<R, X> body)
      throws X {
    return transact(TxOptions.STANDARD, body);
  }

  /// Runs a transaction as [#transact(TransactionBody)], for a body without a result.
  default <X extends Exception> void transact(TransactionAction<X> body) throws X {
    Object _ = transact(TxOptions.STANDARD, answering(body));
  }

  private static <X extends Exception> TransactionBody<Object, X> answering(
      TransactionAction<X> body) {
    var nothing = new Object();
    return () -> {
      body.run();
      return nothing;
    };
  }

  /// Runs a transaction as [#transact(TransactionBody)], with other options.
  <R extends @Nullable Object, X extends Exception> R transact(
      TxOptions options, TransactionBody<R, X> body) throws X;

  /// Begins a transaction that the program itself commits.
  Transaction begin(TxOptions options);

  /// Returns the outcome of a transaction that was [Transaction.Outcome.Unknown], in a store that
  /// was opened again since.
  Transaction.Outcome outcome(Transaction.Id id);

  /// Runs a body as one operation on client-placed objects: they migrate to this process, and stay
  /// until the body ends. No other caller sees a state in between. If the body throws, it changes
  /// nothing.
  ///
  /// A client that is [TreeMembership.Outside] takes a place in the tree as a leaf for this. When
  /// this returns there, the operation is durable.
  ///
  /// @param shared all objects that the body calls
  /// @param body makes its calls on the calling thread; may run again when this process was
  ///   disconnected from the others meanwhile
  /// @throws IllegalArgumentException when an object is not placed at clients, and this process has
  ///   no [View.Client] of it, when two are of different domains ([Shared#domain()]), or there are
  ///   none
  /// @throws UnknownOutcome when this client is outside of the tree, and was disconnected before
  ///   the operation was durable
  /// @throws UnsupportedOperationException when the store takes no part in migration
  default <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, TransactionBody<R, X> body) throws X {
    throw new UnsupportedOperationException(
        "this store has no objects that are placed at clients; open memory: or file:DIRECTORY");
  }

  /// Runs an operation as [#together(Collection, TransactionBody)], for a body without a result.
  default <X extends Exception> void together(Collection<?> shared, TransactionAction<X> body)
      throws X {
    Object _ = together(shared, answering(body));
  }

  /// Waits until everything that this client has done to client-placed objects, and seen of them,
  /// is durable: it is in the store, and stays, whichever clients crash. All other calls are
  /// durable when they return, and so are those on client-placed objects of a store in this
  /// process.
  ///
  /// @throws UnknownOutcome when this client was disconnected since its last flush, so that its
  ///   later calls may be lost; thrown once
  /// @throws DeadlineExceeded when the outcome is not known in time; flush again
  default void flush() {}

  /// Returns the part of this process in the trees through which client-placed objects migrate:
  /// where they and this process are, whether it was disconnected, and a flush without waiting.
  ///
  /// @throws UnsupportedOperationException when the store takes no part in migration
  default Tree tree() {
    throw new UnsupportedOperationException(
        "this store has no objects that are placed at clients; open memory: or file:DIRECTORY");
  }

  /// Returns the past of an object.
  ///
  /// @throws UnsupportedOperationException for a [Blob], whose past is in its snapshots
  <T> History<T> history(T shared);

  /// Returns the streams of the log: those of the program, and beside them those of objects.
  StreamStore streams();

  /// Opens a stream of the changes of shared objects, in the order of the log: what was called with
  /// which arguments, what was created and deleted, and which changes share a transaction. Blobs,
  /// [#streams] and [#store] have no changes here.
  ///
  /// @throws TooOld when changes behind the token that it begins with were released
  /// @throws LimitExceeded when there are [StreamStore#FOLLOWERS_MAX] such streams already
  /// @throws NotShareable when the class cannot be shared
  <T> ChangeStream<T> changes(Changes<T> what);

  /// Returns the durable subscription of a name, or begins one at the present. From now on the
  /// store keeps the log behind its position, whatever [Keep] says, until the position is too old,
  /// or [#unsubscribe].
  ///
  /// @param ageMax how old the position may become, at least a second; replaces an earlier one
  /// @throws IllegalArgumentException when the name is empty or too long
  /// @throws LimitExceeded when there are too many
  Subscription subscribe(String name, Duration ageMax);

  /// Returns the durable subscriptions, by name.
  List<Subscription> subscriptions();

  /// Deletes a durable subscription: the store keeps nothing more for it.
  ///
  /// @return whether it existed
  boolean unsubscribe(String name);

  /// Returns the listenable key-value store: values under keys of its own, with listeners.
  KeyValueStore store();

  /// Returns the timers: calls of shared objects that the store makes at a time.
  Timers timers();

  /// Returns the listeners of objects: shared objects that the store calls for each change.
  Listeners listeners();

  /// Waits for the calls in progress, up to [Limits#closeTimeMax()], and closes the store. Later
  /// calls throw [Closed].
  @Override
  void close();

  // ---- collections

  /// Returns the shared hash map of a name. As with all collections, the first call that changes it
  /// creates it, and all callers that use the name share it. Its classes are those with which it
  /// began, except that a class which is no longer on the class path may have another in its place,
  /// as after a rename.
  ///
  /// @param keys the class of its keys, with `equals` and `hashCode` over their contents
  /// @param values the class of its values
  /// @throws UnsupportedOperationException when stoa-collections is not on the class path
  /// @throws NotShareable when keys or values cannot travel, or keys have no stable hash
  /// @throws IllegalArgumentException when the collection began with other classes
  default <K, V> SharedMap<K, V> map(String name, Class<K> keys, Class<V> values) {
    return Collections.installed().map(this, name, keys, values);
  }

  /// Returns the shared sorted map of a name, in the natural order of its keys.
  ///
  /// @throws IllegalArgumentException when it began with another order
  default <K extends Comparable<? super K>, V> SharedNavigableMap<K, V> navigableMap(
      String name, Class<K> keys, Class<V> values) {
    return Collections.installed().navigableMap(this, name, keys, values, null);
  }

  /// Returns the shared sorted map of a name, in the order of a comparator, of which each process
  /// makes an instance.
  ///
  /// @param order its class, with a constructor without parameters
  /// @throws IllegalArgumentException when it began with another order
  default <K, V> SharedNavigableMap<K, V> navigableMap(
      String name, Class<K> keys, Class<V> values, Class<? extends Comparator<? super K>> order) {
    return Collections.installed().navigableMap(this, name, keys, values, order);
  }

  /// Returns the shared map from ranges to values of a name.
  default <K extends Comparable<? super K>, V> SharedRangeMap<K, V> rangeMap(
      String name, Class<K> keys, Class<V> values) {
    return Collections.installed().rangeMap(this, name, keys, values);
  }

  /// Returns the shared list of a name.
  default <E> SharedList<E> list(String name, Class<E> elements) {
    return Collections.installed().list(this, name, elements);
  }

  /// Returns the shared list of a name, as a queue.
  default <E> SharedQueue<E> queue(String name, Class<E> elements) {
    return Collections.installed().queue(this, name, elements);
  }

  /// Returns the shared blocking queue of a name: the [blocking deque][#blockingDeque] of that
  /// name, without a capacity if it begins here.
  default <E> SharedBlockingQueue<E> blockingQueue(String name, Class<E> elements) {
    return Collections.installed().blockingDeque(this, name, elements, 0);
  }

  /// Returns the shared blocking queue of a name, which holds at most a number of elements.
  ///
  /// @param capacity positive; fixed when the queue begins
  /// @throws IllegalArgumentException when it began with another capacity
  default <E> SharedBlockingQueue<E> blockingQueue(String name, Class<E> elements, int capacity) {
    return blockingDeque(name, elements, capacity);
  }

  /// Returns the shared blocking deque of a name, without a capacity if it begins here.
  default <E> SharedBlockingDeque<E> blockingDeque(String name, Class<E> elements) {
    return Collections.installed().blockingDeque(this, name, elements, 0);
  }

  /// Returns the shared blocking deque of a name, which holds at most a number of elements.
  ///
  /// @param capacity positive; fixed when the deque begins
  /// @throws IllegalArgumentException when it began with another capacity
  default <E> SharedBlockingDeque<E> blockingDeque(String name, Class<E> elements, int capacity) {
    if (capacity <= 0) {
      throw new IllegalArgumentException("a capacity of " + capacity + "; it must be positive");
    }
    return Collections.installed().blockingDeque(this, name, elements, capacity);
  }

  /// Returns the shared list of a name, as a stack.
  default <E> SharedStack<E> stack(String name, Class<E> elements) {
    return Collections.installed().stack(this, name, elements);
  }

  /// Returns the shared hash map of a name that consists of many maps.
  ///
  /// @param shards how many, 1 to 65,536; fixed when the map begins
  /// @throws IllegalArgumentException when it began with another number
  default <K, V> ShardedMap<K, V> shardedMap(
      String name, Class<K> keys, Class<V> values, int shards) {
    return Collections.installed().shardedMap(this, name, keys, values, shards);
  }

  /// Returns the shared B-tree of a name.
  default <K extends Comparable<? super K>, V> SharedBTree<K, V> bTree(
      String name, Class<K> keys, Class<V> values) {
    return Collections.installed().bTree(this, name, keys, values);
  }

  /// Begins a query for the objects of a shared class, see [Query].
  ///
  /// ```
  /// stoa.query(Order.class).where(eq(Order::customer, "ann")).orderBy(Order::total).list()
  /// ```
  ///
  /// @throws IllegalStateException in a method of a shared object
  default <T> Query<T> query(Class<T> type) {
    return Collections.installed().indexes().query(this, type);
  }

  /// Begins a query for entries of a map whose values have an [Index], see [MapQuery].
  ///
  /// ```
  /// stoa.query(products).where(eq(part(Product::category), "tools")).list()
  /// ```
  ///
  /// @throws IllegalArgumentException when the class of the values has no index
  /// @throws IllegalStateException in a method of a shared object
  default <K, V> MapQuery<K, V> query(SharedMap<K, V> map) {
    return Collections.installed().indexes().query(this, map);
  }

  /// Begins a query for entries of a map whose values have an [Index], see [MapQuery].
  ///
  /// @throws IllegalArgumentException when the class of the values has no index
  /// @throws IllegalStateException in a method of a shared object
  default <K, V> MapQuery<K, V> query(ShardedMap<K, V> map) {
    return Collections.installed().indexes().query(this, map);
  }

  /// Compares the indexes of a map's values with its entries, like [#checkIndexes(Class)]. It reads
  /// every entry.
  ///
  /// @return what differs, a line for each entry and value, 1,000 at most
  /// @throws IllegalArgumentException when the class of the values has no index
  /// @throws IllegalStateException in a transaction, and in a method of a shared object
  default List<String> checkIndexes(SharedMap<?, ?> map) {
    return Collections.installed().indexes().differences(this, map, null);
  }

  /// Compares the indexes of a map's values with its entries, like [#checkIndexes(Class)]. It reads
  /// every entry.
  ///
  /// @return what differs, a line for each entry and value, 1,000 at most
  /// @throws IllegalArgumentException when the class of the values has no index
  /// @throws IllegalStateException in a transaction, and in a method of a shared object
  default List<String> checkIndexes(ShardedMap<?, ?> map) {
    return Collections.installed().indexes().differences(this, map, null);
  }

  /// Compares the indexes of a shared class with a recount of its objects, as of moments in the
  /// present, and changes nothing. Calls may go on. It reads every object.
  ///
  /// @return what differs, a line for each object and value, 1,000 at most; none when the indexes
  ///   are right
  /// @throws IllegalStateException in a transaction, and in a method of a shared object
  default List<String> checkIndexes(Class<?> type) {
    return Collections.installed().indexes().differences(this, type, null);
  }

  /// Compares the indexes of a shared class with a recount of its objects, both as they were at one
  /// moment, and changes nothing. A single call is one step on its object and then one on each
  /// index: a call that was between its steps at that moment shows as a difference, and no longer
  /// does at a later address. An object that was deleted since, and that the index lacked, is not
  /// found.
  ///
  /// @param moment a log address: of a commit, or of a snapshot ([Snapshot#address])
  /// @return what differed, a line for each object and value, 1,000 at most; none when the indexes
  ///   were right
  /// @throws TooOld when what the store had there was released; a snapshot keeps it
  /// @throws IllegalStateException in a transaction, and in a method of a shared object
  default List<String> checkIndexes(Class<?> type, LogAddress moment) {
    Objects.requireNonNull(moment, "the address is null");
    return Collections.installed().indexes().differences(this, type, moment);
  }

  /// Compares the indexes of a map's values with its entries as of one moment, like
  /// [#checkIndexes(Class, LogAddress)].
  ///
  /// @throws TooOld when what the store had there was released; a snapshot keeps it
  /// @throws IllegalArgumentException when the class of the values has no index
  /// @throws IllegalStateException in a transaction, and in a method of a shared object
  default List<String> checkIndexes(SharedMap<?, ?> map, LogAddress moment) {
    Objects.requireNonNull(moment, "the address is null");
    return Collections.installed().indexes().differences(this, map, moment);
  }

  /// Compares the indexes of a map's values with its entries as of one moment, like
  /// [#checkIndexes(Class, LogAddress)].
  ///
  /// @throws TooOld when what the store had there was released; a snapshot keeps it
  /// @throws IllegalArgumentException when the class of the values has no index
  /// @throws IllegalStateException in a transaction, and in a method of a shared object
  default List<String> checkIndexes(ShardedMap<?, ?> map, LogAddress moment) {
    Objects.requireNonNull(moment, "the address is null");
    return Collections.installed().indexes().differences(this, map, moment);
  }
}
