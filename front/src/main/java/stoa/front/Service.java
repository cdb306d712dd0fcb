package stoa.front;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Appended;
import stoa.BlobExtent;
import stoa.BlobVersions;
import stoa.History;
import stoa.Limits;
import stoa.ListenerLimits;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.TxOptions;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.base.TraceParent;
import stoa.front.marshal.Marshaller;
import stoa.front.types.HandlerType;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The port between callers and a store, which is in this process, in a server, or in several
/// groups of servers. [SharedStoa] is the programming interface over it.
///
/// A caller passes a call as its method and arguments; the port encodes them if the call leaves the
/// process. Thread-safe.
public interface Service {
  // ---- the whole

  /// Returns the limits of the caller.
  Limits limits();

  /// Tells what the store, or the way to it, has measured since it was opened.
  void measure(Measures out);

  /// Returns the most bytes of the arguments of a call, and of its answer.
  int callBytesMax();

  /// Returns the loader of the classes of keys and elements.
  ClassLoader loader();

  /// Returns the marshaller of values that belong to no object.
  Marshaller marshaller();

  /// Returns the executor that decodes answers, which may take long.
  Executor answers();

  /// Returns the time of a clock that never goes back, in nanoseconds from an arbitrary origin.
  long nanoTime();

  /// Registers a class of values though no declaration names it.
  void admit(Class<?> type);

  /// Returns whether the store may have a collection of a class.
  boolean isAdmitted(Class<?> type);

  /// Returns whether calls on objects of the store leave this process.
  default boolean isRemote() {
    return false;
  }

  /// Returns the number of groups that keep the store.
  default int groups() {
    return 1;
  }

  /// Returns the group that keeps a key.
  default int group(Key key) {
    return 0;
  }

  /// Closes the store, or the connections to it.
  void close();

  // ---- objects

  /// Returns an object, whether it exists or not.
  ///
  /// @throws stoa.NotShareable when the class cannot be shared, or the store does not have it
  Target target(Class<?> face, Object key);

  /// Returns the encoded keys of the existing objects of a type.
  Iterator<byte[]> names(Class<?> face);

  /// One object, as the target of calls. Thread-safe.
  interface Target {
    /// Returns its class.
    SharedType shared();

    /// Returns its key in the store.
    Key key();

    /// Returns the marshaller of the calls on it.
    Marshaller marshaller();

    /// Calls the present object, outside of any method and transaction.
    ///
    /// @throws PlacedObjects.LentToClients in the process of the store, when the object is lent to
    ///   clients: nothing has happened
    /// @throws Throwable what the method throws
    @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
        throws Throwable;

    /// Makes a call without waiting for it.
    ///
    /// @param settled receives the answer when the call is over
    void begin(
        SharedCall to,
        SharedMethod method,
        @Nullable Object[] arguments,
        CallRecorder.Settled settled)
        throws Throwable;

    /// Creates it.
    ///
    /// @throws stoa.AlreadyExists when it exists
    /// @throws Throwable what the constructor throws
    void create(SharedCall to) throws Throwable;

    /// Deletes it, wherever it is.
    ///
    /// @throws stoa.Gone when it does not exist
    void delete(SharedCall to);

    /// Returns its generation, 0 when it does not exist.
    long generation();

    /// Refuses an object that cannot be at clients.
    ///
    /// @throws UnsupportedOperationException in that case
    void requireTree();

    /// Returns a copy of its state at the caller.
    Copy follow();

    /// Returns its past state at a place in the log.
    Past at(LogAddress address);

    /// Returns its past state at one of its versions.
    ///
    /// @throws IllegalArgumentException when it has no such version
    Past past(long version);

    /// Returns its present version.
    long version();

    /// Returns its oldest readable version; 0 when there is none.
    long oldest();

    /// Releases the versions before one; returns the oldest readable version.
    long trim(long before);

    /// Returns the entries of its stream.
    List<History.Entry> entries(long from, long to);
  }

  /// A copy of an object's state at the caller. Thread-safe.
  interface Copy {
    /// The age of the state that accessors may see.
    enum Freshness {
      /// All calls that were answered before, to any caller.
      NOW,
      /// The state that this process saw last; never older than the states that it has seen of
      /// other objects.
      SEEN
    }

    /// Asks an accessor.
    ///
    /// @throws Throwable what the method throws
    @Nullable Object ask(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, Freshness freshness)
        throws Throwable;
  }

  /// A past state of an object. Thread-safe.
  interface Past {
    /// Asks an accessor.
    ///
    /// @param place the place of all objects in its answer; null when these are live
    /// @throws Throwable what the method throws
    @Nullable Object ask(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, @Nullable Place place)
        throws Throwable;

    /// Returns the same state with a time limit for each call.
    default Past within(Duration timeMax) {
      return this;
    }
  }

  /// Resolves the numbers of types and classes that one marshaller knows: all of a store, or those
  /// of one group.
  interface Vocabulary {
    /// Returns an object of a type, through the last class stored under its name.
    Target named(String type, Object key);

    /// Returns an object by its class.
    Target target(Class<?> face, Object key);

    /// Returns a blob.
    BlobTarget blob(Object key, long generation);

    /// Registers a class of this code, as [stoa.spi.Host#admit] does.
    void admit(Class<?> type);

    /// Returns the loader of the classes of collection elements; null for the store's own.
    default @Nullable ClassLoader elements() {
      return null;
    }

    /// Prepares for encoding a reference to an object for this part.
    default void mention(SharedCall object) {}

    /// Prepares for encoding a reference to a blob for this part.
    default void mentionBlob() {}

    /// Returns the class of a name in the dictionary, see [stoa.front.marshal.References#classOf].
    default @Nullable Class<?> classOf(String name) {
      return null;
    }

    /// Learns the classes that other parts know; returns whether there were new ones.
    default boolean learn() {
      return false;
    }
  }

  // ---- transactions

  /// Begins a transaction.
  default Work begin(TxOptions options) {
    return begin(options, null);
  }

  /// Begins a transaction under an intent, which ends with it.
  ///
  /// @param intent of an earlier attempt; null for none
  Work begin(TxOptions options, @Nullable Intent intent);

  /// The intent of a transaction that has lost often, see [Work#intend].
  interface Intent {}

  /// Returns the outcome of a transaction.
  stoa.Transaction.Outcome outcome(stoa.Transaction.Id id);

  /// One of several calls of a transaction.
  ///
  /// @param to the object
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record WorkCall(SharedCall to, SharedMethod method, @Nullable Object[] arguments) {}

  /// The store's side of a transaction. One thread at a time uses it. It does not refer to its
  /// [SharedTransaction].
  interface Work {
    /// Returns the log address at which it reads.
    LogAddress at();

    /// Returns whether a caller has committed or closed it.
    boolean isEnded();

    /// Returns whether it is lost, see [Attempts.Attempt#isLost].
    default boolean isLost() {
      return false;
    }

    /// Returns whether it is late, see [Attempts.Attempt#isLate].
    boolean isLate();

    /// Makes a call. A method that is a transaction itself becomes a nested one.
    ///
    /// @throws Throwable what the method throws
    @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
        throws Throwable;

    /// Makes a call like [#call]; an exception of the method ends the transaction.
    default @Nullable Object callAsOwn(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      return call(to, method, arguments);
    }

    /// Makes calls on different objects, and returns their answers in the same order. The calls may
    /// be in progress at once. After a failure, the others have been made or not.
    ///
    /// @throws Throwable what a method throws
    default List<@Nullable Object> callAll(List<WorkCall> calls) throws Throwable {
      var answers = new ArrayList<@Nullable Object>(calls.size());
      for (WorkCall one : calls) answers.add(call(one.to(), one.method(), one.arguments()));
      return answers;
    }

    /// Creates an object.
    ///
    /// @throws Throwable what the constructor throws
    void create(SharedCall to) throws Throwable;

    /// Deletes an object.
    ///
    /// @throws stoa.Gone when it does not exist
    void delete(SharedCall to);

    /// Deletes several objects, like [#callAll].
    ///
    /// @throws stoa.Gone when one of them does not exist
    default void deleteAll(List<SharedCall> objects) {
      objects.forEach(this::delete);
    }

    /// Returns the generation of an object, 0 when it does not exist.
    long generation(SharedCall of);

    /// Begins a nested transaction.
    void enter(boolean readOnly);

    /// Ends the innermost nested transaction.
    void leave(boolean keep);

    /// Commits it.
    stoa.Transaction.Outcome commit();

    /// Declares, once it was aborted, the intent to run again: the store then holds back for a
    /// while what would abort it. Waits until other intents on its objects are over.
    ///
    /// @param hold how long the next attempt will take
    /// @param waitMax how long to wait at most
    /// @return null when the store gives it no intent
    @Nullable Intent intend(Duration hold, Duration waitMax);

    /// Closes it without a commit, unless it has committed. Any thread may call this.
    void close();
  }

  // ---- the past

  /// A place in the log that stays readable until its release.
  ///
  /// @param release releases it
  record Pinned(LogAddress address, Runnable release) {}

  /// A snapshot with a name.
  record Named(String name, LogAddress address) {}

  /// Holds a place in the log.
  ///
  /// @param of the object that the caller reads there; null for any
  /// @param address null for the present
  Pinned pin(@Nullable Target of, @Nullable LogAddress address);

  /// Takes a snapshot of the present with a name.
  Named takeSnapshot(String name);

  /// Returns the snapshot of a name, null when there is none.
  @Nullable Named findSnapshot(String name);

  /// Returns all snapshots with names.
  List<Named> snapshots();

  /// Deletes the snapshot of a name; returns whether there was one.
  boolean deleteSnapshot(String name);

  // ---- ports beside objects

  /// Returns the port to the blobs.
  Blobs blobs();

  /// Returns the port to the streams.
  Streams streams();

  /// Returns the port to the changes of objects.
  ChangeLog changes();

  /// The changes of objects, in the order of the log. Thread-safe.
  interface ChangeLog {
    /// Returns the stored name of a class.
    ///
    /// @throws stoa.NotShareable when it cannot be shared
    String typeOf(Class<?> face);

    /// Follows the changes.
    Tail<ChangeSet> follow(ChangeQuery query, LogAddress from);

    /// Returns the objects that are present at a log address, which the caller holds.
    Iterator<ChangeSet.One> present(ChangeQuery query, LogAddress at);

    /// Returns the subscription of a name, or begins one at the present.
    ///
    /// @param ageSecondsMax replaces an earlier one
    Subscribed subscribe(String name, long ageSecondsMax);

    /// Moves a subscription forward.
    ///
    /// @throws stoa.Gone when there is none of that name
    void acknowledge(String name, LogAddress position);

    /// Returns all subscriptions, by name.
    List<Subscribed> subscriptions();

    /// Ends a subscription; returns whether there was one.
    boolean unsubscribe(String name);
  }

  /// A durable subscription to changes.
  ///
  /// @param name its name
  /// @param position the log address up to which its consumer has handled the changes
  /// @param ageSecondsMax how old the position may be before the store keeps no more for it
  record Subscribed(String name, LogAddress position, long ageSecondsMax) {}

  /// Returns a key of the listenable key-value store.
  ///
  /// @param encoded the key, as [stoa.front.types.Keys] writes it
  Cell cell(byte[] encoded, Object key);

  /// Returns the port to objects that execute at clients.
  Tree tree();

  /// One key of the listenable key-value store. Thread-safe.
  interface Cell {
    /// Returns the marshaller of its values.
    Marshaller marshaller();

    /// Registers the class of a value.
    void admit(Class<?> type);

    /// Registers the classes of a handler.
    void admit(HandlerType handler);

    /// Returns the encoding of a value or handler.
    ///
    /// @param what describes it in the message of a refusal
    /// @throws stoa.NotShareable when it cannot be encoded, or could not be decoded here
    byte[] encoded(Object value, String what);

    /// Puts a value, or removes it; returns whether there was one.
    ///
    /// @param micros how long the value stays, in microseconds; 0 for always
    boolean put(byte @Nullable [] value, long micros);

    /// Puts a value without waiting.
    ///
    /// @param micros as above
    /// @param settled receives the result
    void put(byte[] value, long micros, CallRecorder.Settled settled);

    /// Returns the value, encoded; null when there is none.
    byte @Nullable [] get();

    /// Reads like [#get()], without waiting.
    ///
    /// @param settled receives the value
    void get(CallRecorder.Settled settled);

    /// Returns the feed of a new listener of the key; it is silent before [Feed#begin].
    ///
    /// @param handler encoded
    Feed feed(byte[] handler, ListenerLimits limits);
  }

  /// The source of one listener's events. Thread-safe.
  interface Feed {
    /// Registers the listener, and sends its events from then on. Waits.
    void begin(Sink events);

    /// Notes that the listener has handled its events up to a number. Does not wait.
    void heard(long number);

    /// Notes that the listener knows that no more events follow. Does not wait.
    void over();

    /// Returns whether the program has closed the store.
    boolean isOver();

    /// Runs a listener's code.
    ///
    /// @throws java.util.concurrent.RejectedExecutionException when the store is closed
    void execute(Runnable task);

    /// Removes the listener. Waits.
    void close();
  }

  /// The destination of one listener's events. Callers make one call at a time; it must not block.
  interface Sink {
    /// Receives an event.
    ///
    /// @param trace where its put is recorded; null when no tracer records it
    void event(long number, byte[] event, @Nullable TraceParent trace);

    /// Learns that no events follow.
    ///
    /// @param number the number to acknowledge when the listener knows
    /// @param cause for [SharedKeys#cause]
    void ended(long number, byte[] cause);

    /// Learns that no more events come this way: a caller has removed the listener, or the store
    /// has failed.
    void failed(RuntimeException cause);
  }

  /// Blobs. Thread-safe.
  interface Blobs {
    /// Returns the most bytes of one read or write.
    int bytesMax();

    /// Returns a blob that a caller asks for: writing creates it, also after a deletion.
    BlobTarget asked(Object key);

    /// Returns a blob that is known by reference.
    ///
    /// @param generation the required generation, 0 for any
    BlobTarget reference(Object key, long generation);

    /// Returns the encoded keys of the existing blobs.
    Iterator<byte[]> names();
  }

  /// The contents of a blob, now or at a moment. Offsets and lengths are within the limits.
  /// Thread-safe.
  interface BlobContents {
    /// Returns the highest version.
    long version();

    /// Returns all versions, at least those of the beginning of the call.
    BlobVersions versions();

    /// Returns the end of the last byte.
    long size();

    /// Returns the bytes of a range.
    byte[] read(long offset, int length);

    /// Fills the remaining room of a buffer.
    void read(long offset, ByteBuffer target);

    /// Begins to read.
    CompletableFuture<byte[]> readAsync(long offset, int length);

    /// Returns the value of an attribute, null when there is none.
    byte @Nullable [] attribute(String name);

    /// Returns all attributes.
    SortedMap<String, byte[]> attributes();

    /// Visits the extents of a range, in order, until the visitor returns false.
    void history(long from, long to, Predicate<BlobExtent> visitor);
  }

  /// The present contents of one blob, as the target of calls. Single changes return their version.
  /// Thread-safe.
  interface BlobTarget extends BlobContents {
    /// Returns its key, whose label is its reference.
    Key key();

    /// Returns the generation that it is bound to, 0 before the first call that finds one.
    long generation();

    /// Creates it.
    ///
    /// @throws stoa.AlreadyExists when it exists
    void create();

    /// Returns the existing generation, 0 when there is none.
    long found();

    /// Deletes it; returns whether it existed.
    boolean delete();

    /// Writes the remaining bytes of a buffer.
    long write(long offset, ByteBuffer bytes);

    /// Begins to write, after the earlier writes of this thread.
    CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes);

    /// Removes all bytes from a given size on.
    long truncate(long size);

    /// Sets an attribute.
    ///
    /// @throws IllegalArgumentException when the name or value is invalid
    long attribute(String name, byte[] value);

    /// Removes an attribute.
    ///
    /// @throws IllegalArgumentException when the name is invalid
    long removeAttribute(String name);

    /// Begins a change of several parts.
    ///
    /// @param version the chosen version; 0 for the next one
    /// @throws stoa.LimitExceeded when too many are open
    BlobChange begin(long version);

    /// Counts versions as written.
    void skip(BlobVersions versions);

    /// Keeps its present contents.
    ///
    /// @throws IllegalStateException when it has no version
    /// @throws stoa.LimitExceeded when it has too many snapshots
    BlobMoment snapshot();

    /// Returns the kept snapshots, oldest first.
    List<BlobMoment> snapshots();

    /// Returns the snapshot of a version.
    ///
    /// @throws stoa.TooOld when there is none
    BlobMoment at(long version);

    /// Returns the snapshot of a number, whether the store keeps it or not.
    ///
    /// @throws IllegalStateException while no generation is known
    BlobMoment moment(long number);
  }

  /// A snapshot of a blob. Thread-safe.
  interface BlobMoment extends BlobContents {
    /// Returns its number.
    long number();

    /// Releases it, unless a caller has done so.
    void release();
  }

  /// A change of a blob in several parts, which become one version. Thread-safe.
  interface BlobChange {
    /// Writes the remaining bytes of a buffer.
    void write(long offset, ByteBuffer bytes);

    /// Begins to write.
    CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes);

    /// Removes all bytes from a given size on.
    void truncate(long size);

    /// Sets an attribute.
    void attribute(String name, byte[] value);

    /// Removes an attribute.
    void removeAttribute(String name);

    /// Makes all of it visible; returns the version.
    long commit();

    /// Drops an uncommitted change. Called once.
    void close();
  }

  /// Streams. Addresses are positive. Thread-safe.
  interface Streams {
    /// Returns the most appends that one caller may have in progress.
    int appendsMax();

    /// Begins to append to streams, an entry each: all at once or not at all. The caller may change
    /// the bytes after the return.
    ///
    /// @return waits until they are durable
    Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data);

    /// Appends like [#append], for a caller that does not wait on this thread.
    CompletableFuture<Appended> appendAsync(List<StreamKey> streams, List<byte[]> data);

    /// Reads the slots at log addresses, in the order of the list.
    void read(List<LogAddress> addresses, Consumer<LogSlot> reader);

    /// Visits the log, up to its present end.
    void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor);

    /// Returns the last address of the log.
    LogAddress tail();

    /// Fills a hole, see [stoa.StreamStore#fillHole].
    LogSlot fillHole(LogAddress address);

    /// Reads the entries at addresses of a stream, in the order of the list, except those not yet
    /// written.
    ///
    /// @throws stoa.TooOld when one of them was trimmed
    void read(StreamKey stream, List<Long> addresses, Consumer<StreamEntry> reader);

    /// Visits a stream, up to its present end.
    ///
    /// @throws stoa.TooOld when the next entry was trimmed
    void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor);

    /// Returns the last address of a stream, 0 when it has no entry.
    long check(StreamKey stream);

    /// Returns the oldest address of a stream, 0 when it has no entry.
    long oldest(StreamKey stream);

    /// Releases the entries of a stream before an address.
    void trim(StreamKey stream, long before);

    /// Returns the stream of an object.
    ///
    /// @throws UnsupportedOperationException when it is not readable here
    StreamKey streamOf(Ref<?> ref);

    /// Follows the log.
    Tail<LogSlot.Written> follow(LogAddress from);

    /// Follows a stream.
    Tail<StreamEntry> follow(StreamKey stream, long from);
  }

  /// The new entries at the end of a log or stream. One thread reads; any closes.
  ///
  /// @param <E> the entries
  interface Tail<E> {
    /// Returns the next entry, or null when there is none yet. Does not wait for it.
    @Nullable E poll();

    /// Returns the next entry, or null when none came in time, or another thread closed this.
    @Nullable E next(long nanosMax) throws InterruptedException;

    /// Returns a log address up to which this has returned everything that it returns; null when it
    /// knows none. It stays where it is while nothing is added but notes about readers.
    default @Nullable LogAddress level() {
      return null;
    }

    /// Closes it, and ends a wait in progress. Called once.
    void close();
  }

  /// The tree of the processes among which objects migrate, and the part of this process in it.
  /// Thread-safe.
  interface Tree {
    /// Returns whether this process executes its calls itself.
    boolean isHere();

    /// Returns the execution of calls on the objects of a domain, if [#isHere].
    Placing at(String domain);

    /// Refuses an operation in the middle of an operation on several objects.
    ///
    /// @throws IllegalStateException when such an operation runs on this thread
    void refuseInside(String what);

    /// Makes the calls of this process durable, see [stoa.Stoa#flush].
    void flush();

    /// Makes them durable without waiting, see [stoa.Tree#flush].
    CompletableFuture<@Nullable Void> flushing();

    /// Returns the execution of calls on the objects of a domain, for one operation on several of
    /// them; also for a process that takes no part in the tree otherwise.
    Placing atOnce(String domain);

    /// Returns the places of this process.
    List<stoa.Tree.Place> places();

    /// Sets a listener to the disconnections of this process, see [stoa.Tree#listen].
    void listen(Consumer<stoa.Tree.Disconnected> listener);

    /// See [stoa.Tree#throwAfterLoss].
    void throwAfterLoss();
  }
}
