package stoa.front;

import java.nio.ByteBuffer;
import java.time.Duration;
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
import stoa.front.marshal.Marshaller;
import stoa.front.types.HandlerType;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The port between callers and a store, which is in this process, in a server, or in several
/// groups of servers. [SharedStoa] is the programming interface over it.
///
/// A call is handed over as its method and arguments: the port encodes them when they travel.
/// Thread-safe.
public interface Service {
  // ---- the whole

  /// The limits of the caller.
  Limits limits();

  /// Tells what the store, or the way to it, has measured since it was opened.
  void measure(Measures out);

  /// How many bytes the arguments of a call may take, or its answer.
  int callBytesMax();

  /// Finds the classes of keys and of elements.
  ClassLoader loader();

  /// Encodes values that belong to no object.
  Marshaller marshaller();

  /// Where answers are read, which may take long.
  Executor answers();

  /// A clock that never goes back, in nanoseconds from any moment.
  long nanoTime();

  /// Makes a class known that may travel though no declaration names it.
  void admit(Class<?> type);

  /// Whether a collection of the store may have been made with a class.
  boolean isAdmitted(Class<?> type);

  /// Closes the store, or the connections to it.
  void close();

  // ---- objects

  /// An object, whether it exists or not.
  ///
  /// @throws stoa.NotShareable when the class cannot be shared, or the store does not have it
  Target target(Class<?> face, Object key);

  /// The encoded keys of the objects of a type that exist.
  Iterator<byte[]> names(Class<?> face);

  /// One object, as calls reach it. Thread-safe.
  interface Target {
    /// Its class.
    SharedType shared();

    /// Its key in the store.
    Key key();

    /// Encodes what is said to it.
    Marshaller marshaller();

    /// Makes a call on it as it is now, outside of any method and transaction.
    ///
    /// @throws PlacedObjects.Elsewhere in the process of the store, when the object is lent to
    ///   clients: nothing has happened
    /// @throws Throwable what the method throws
    @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
        throws Throwable;

    /// Makes a call without waiting for it.
    ///
    /// @param settled told when it is over
    void begin(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, Recorder.Settled settled)
        throws Throwable;

    /// Begins it.
    ///
    /// @throws stoa.AlreadyExists when it exists
    /// @throws Throwable what the constructor throws
    void create(SharedCall to) throws Throwable;

    /// Ends it, wherever it is.
    ///
    /// @throws stoa.Gone when it does not exist
    void delete(SharedCall to);

    /// The generation in which it is, 0 when it does not exist.
    long generation();

    /// Refuses when it cannot be at clients.
    ///
    /// @throws UnsupportedOperationException when that is so
    void requireTree();

    /// Its state, kept at the caller.
    Copy follow();

    /// It as it was at a place in the log.
    Past at(LogAddress address);

    /// It as it was at one of its versions.
    ///
    /// @throws IllegalArgumentException when it has no such version
    Past past(long version);

    /// The version in which it is.
    long version();

    /// The oldest version that can be read; 0 when there is none.
    long oldest();

    /// Releases the versions before one; answers the oldest that can be read now.
    long trim(long before);

    /// What has happened to it.
    List<History.Entry> entries(long from, long to);
  }

  /// A state that is kept at the caller. Thread-safe.
  interface Copy {
    /// What accessors see.
    enum Freshness {
      /// All that was answered before, to anybody.
      NOW,
      /// What was seen last, and nothing older than what this process has seen of other objects.
      SEEN
    }

    /// Asks an accessor.
    ///
    /// @throws Throwable what the method throws
    @Nullable Object ask(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, Freshness freshness)
        throws Throwable;
  }

  /// An object as it was. Thread-safe.
  interface Past {
    /// Asks an accessor.
    ///
    /// @param place where all objects are seen that come of it; null when these are live
    /// @throws Throwable what the method throws
    @Nullable Object ask(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, @Nullable Place place)
        throws Throwable;

    /// The same, whose calls take no longer than a time each.
    default Past within(Duration timeMax) {
      return this;
    }
  }

  /// What says the numbers of types and classes that one marshaller knows: all of a store, or what
  /// one group has of it.
  interface Vocabulary {
    /// An object of a type, by the class that was last stored under its name.
    Target named(String type, Object key);

    /// An object by its class.
    Target target(Class<?> face, Object key);

    /// A blob.
    BlobTarget blob(Object key, long generation);

    /// As [stoa.spi.Host#admit], of a class of this code.
    void admit(Class<?> type);

    /// Finds the classes of elements of collections; null where the store's own are meant.
    default @Nullable ClassLoader elements() {
      return null;
    }

    /// A reference to an object is about to be said to this part.
    default void mention(SharedCall object) {}

    /// A reference to a blob is about to be said to this part.
    default void mentionBlob() {}

    /// Takes in what other parts know; answers whether there was any.
    default boolean learn() {
      return false;
    }
  }

  // ---- transactions

  /// Begins a transaction.
  Work begin(TxOptions options);

  /// What became of a transaction.
  stoa.Transaction.Outcome outcome(stoa.Transaction.Id id);

  /// A transaction, where its calls are made. One thread at a time uses it. It does not refer to
  /// the [SharedTransaction] that has it.
  interface Work {
    /// Where it reads.
    LogAddress at();

    /// Whether it was committed or closed.
    boolean isEnded();

    /// See [Attempts.Attempt#isLost].
    default boolean isLost() {
      return false;
    }

    /// See [Attempts.Attempt#isLate].
    boolean isLate();

    /// Makes a call; one of a method that is a transaction itself, as a nested one.
    ///
    /// @throws Throwable what the method throws
    @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
        throws Throwable;

    /// As [#call], when what the method throws ends the transaction.
    default @Nullable Object callAsOwn(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      return call(to, method, arguments);
    }

    /// Begins an object.
    ///
    /// @throws Throwable what the constructor throws
    void create(SharedCall to) throws Throwable;

    /// Ends an object.
    ///
    /// @throws stoa.Gone when it does not exist
    void delete(SharedCall to);

    /// The generation in which an object is, 0 when it does not exist.
    long generation(SharedCall of);

    /// Begins a nested transaction.
    void enter(boolean readOnly);

    /// Ends the one that began last.
    void leave(boolean keep);

    /// Commits it.
    stoa.Transaction.Outcome commit();

    /// Gives it up, unless it was committed. Called by any thread.
    void close();
  }

  // ---- the past

  /// A place in the log that stays readable until it is let go.
  ///
  /// @param release lets it go
  record Pinned(LogAddress address, Runnable release) {}

  /// A snapshot that has a name.
  record Named(String name, LogAddress address) {}

  /// Holds a place in the log.
  ///
  /// @param of the object that is seen there; null when any may be
  /// @param address null for the present
  Pinned pin(@Nullable Target of, @Nullable LogAddress address);

  /// Gives the present a name.
  Named takeSnapshot(String name);

  /// The snapshot of a name, null when there is none.
  @Nullable Named findSnapshot(String name);

  /// All that have names.
  List<Named> snapshots();

  /// Deletes one that has a name; answers whether there was one.
  boolean deleteSnapshot(String name);

  // ---- what is beside objects

  /// The blobs.
  Blobs blobs();

  /// The streams.
  Streams streams();

  /// A key of the listenable key-value store.
  ///
  /// @param encoded the key, as [stoa.front.types.Keys] writes it
  Cell cell(byte[] encoded, Object key);

  /// Where objects are that execute at clients.
  Tree tree();

  /// One key of the listenable key-value store. Thread-safe.
  interface Cell {
    /// Encodes what is put there.
    Marshaller marshaller();

    /// Makes the class of a value known.
    void admit(Class<?> type);

    /// Makes the classes of a handler known.
    void admit(HandlerType handler);

    /// The encoding of what is to be stored.
    ///
    /// @param what it is, for the message of a refusal
    /// @throws stoa.NotShareable when it cannot travel, or could not be read back here
    byte[] encoded(Object value, String what);

    /// Puts a value, or nothing; answers whether there was one.
    boolean put(byte @Nullable [] value);

    /// Puts a value without waiting.
    ///
    /// @param settled told when it is there
    void put(byte[] value, Recorder.Settled settled);

    /// The value, encoded; null when there is none.
    byte @Nullable [] get();

    /// As [#get()], without waiting.
    ///
    /// @param settled told of the value
    void get(Recorder.Settled settled);

    /// What a new listener of the key is told by; nothing before [Feed#begin].
    ///
    /// @param handler encoded
    Feed feed(byte[] handler, ListenerLimits limits);
  }

  /// By what one listener is told. Thread-safe.
  interface Feed {
    /// Registers the listener, and has its events told from then on. Waits.
    void begin(Sink events);

    /// The listener has handled its events up to a number. Does not wait.
    void heard(long number);

    /// The listener was told that there are no more events. Does not wait.
    void over();

    /// Whether the store was closed here.
    boolean isOver();

    /// Runs what a listener does.
    ///
    /// @throws java.util.concurrent.RejectedExecutionException when the store is closed
    void execute(Runnable task);

    /// Takes the listener out. Waits.
    void close();
  }

  /// Where the events of one listener go. Called one call at a time; it must not block.
  interface Sink {
    /// An event.
    void event(long number, byte[] event);

    /// There are no more events behind those before.
    ///
    /// @param number which is to be reported as handled when the listener knows
    /// @param cause for [SharedKeys#cause]
    void ended(long number, byte[] cause);

    /// No more events come this way: the listener was taken out, or the store is of no more use.
    void failed(RuntimeException cause);
  }

  /// Blobs. Thread-safe.
  interface Blobs {
    /// The bytes of one read or write.
    int bytesMax();

    /// A blob that a caller asks for: writing begins it, also anew.
    BlobTarget asked(Object key);

    /// One that is known by reference.
    ///
    /// @param generation the one that is meant, 0 when it is whichever is there
    BlobTarget reference(Object key, long generation);

    /// The encoded keys of those that exist.
    Iterator<byte[]> names();
  }

  /// What is in a blob, now or at a moment. Offsets and lengths are within the limits. Thread-safe.
  interface BlobContents {
    /// The version of the last write.
    long version();

    /// Where the last byte ends.
    long size();

    /// The bytes of a range.
    byte[] read(long offset, int length);

    /// Fills the remaining room of a buffer.
    void read(long offset, ByteBuffer target);

    /// Begins to read.
    CompletableFuture<byte[]> readAsync(long offset, int length);

    /// The value of an attribute, null when there is none.
    byte @Nullable [] attribute(String name);

    /// All attributes.
    SortedMap<String, byte[]> attributes();

    /// Visits the extents of a range, in order, until the visitor answers false.
    void history(long from, long to, Predicate<BlobExtent> visitor);
  }

  /// One blob, as calls reach it: what is in it now. Changes that stand for themselves answer their
  /// version. Thread-safe.
  interface BlobTarget extends BlobContents {
    /// Its key, whose label is its reference.
    Key key();

    /// The generation that is meant, 0 while none was found.
    long generation();

    /// Begins it.
    ///
    /// @throws stoa.AlreadyExists when it exists
    void create();

    /// The generation that is there, 0 when there is none.
    long found();

    /// Deletes it; answers whether it was there.
    boolean delete();

    /// Writes the remaining bytes of a buffer.
    long write(long offset, ByteBuffer bytes);

    /// Begins to write, behind what this thread has begun to write before.
    CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes);

    /// Removes all bytes from a size on.
    long truncate(long size);

    /// Sets an attribute.
    ///
    /// @throws IllegalArgumentException when it is none
    long attribute(String name, byte[] value);

    /// Removes an attribute.
    ///
    /// @throws IllegalArgumentException when it is none
    long removeAttribute(String name);

    /// Begins a change of several parts.
    ///
    /// @throws stoa.LimitExceeded when too many are open
    BlobChange begin();

    /// Keeps it as it is now.
    ///
    /// @throws IllegalStateException when it has no version
    /// @throws stoa.LimitExceeded when it has too many snapshots
    BlobMoment snapshot();

    /// The snapshots that were not released, oldest first.
    List<BlobMoment> snapshots();

    /// The snapshot of a version.
    ///
    /// @throws stoa.TooOld when there is none
    BlobMoment at(long version);

    /// The snapshot of a number, whether it is kept or not.
    ///
    /// @throws IllegalStateException while no generation is known
    BlobMoment moment(long number);
  }

  /// A snapshot of a blob. Thread-safe.
  interface BlobMoment extends BlobContents {
    /// Its number.
    long number();

    /// Releases it, unless it was released.
    void release();
  }

  /// A change of a blob in several parts, which become one version. Thread-safe.
  interface BlobChange {
    /// Writes the remaining bytes of a buffer.
    void write(long offset, ByteBuffer bytes);

    /// Begins to write.
    CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes);

    /// Removes all bytes from a size on.
    void truncate(long size);

    /// Sets an attribute.
    void attribute(String name, byte[] value);

    /// Removes an attribute.
    void removeAttribute(String name);

    /// Makes all of it visible; answers the version.
    long commit();

    /// Gives up what was not committed. Called once.
    void close();
  }

  /// Streams. Addresses are positive. Thread-safe.
  interface Streams {
    /// How many appends one caller has under way at most.
    int appendsMax();

    /// Begins to append to streams, an entry each: at once or not at all. The bytes may change when
    /// it returns.
    ///
    /// @return waits until they are durable
    Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data);

    /// As [#append], for who does not wait on this thread.
    CompletableFuture<Appended> appendAsync(List<StreamKey> streams, List<byte[]> data);

    /// Reads what is at log addresses, in the order of the list.
    void read(List<LogAddress> addresses, Consumer<LogSlot> reader);

    /// Visits the log, up to its present end.
    void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor);

    /// The last address of the log.
    LogAddress tail();

    /// See [stoa.StreamStore#fillHole].
    LogSlot fillHole(LogAddress address);

    /// Reads what is at addresses of a stream, in the order of the list, without what is not yet
    /// written.
    ///
    /// @throws stoa.TooOld when one of them was trimmed
    void read(StreamKey stream, List<Long> addresses, Consumer<StreamEntry> reader);

    /// Visits a stream, up to its present end.
    ///
    /// @throws stoa.TooOld when what is next was trimmed
    void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor);

    /// The last address of a stream, 0 when it has no entry.
    long check(StreamKey stream);

    /// The oldest address of a stream, 0 when it has no entry.
    long oldest(StreamKey stream);

    /// Releases the entries of a stream before an address.
    void trim(StreamKey stream, long before);

    /// The stream of an object.
    ///
    /// @throws UnsupportedOperationException when it cannot be read here
    StreamKey streamOf(Ref<?> ref);

    /// Follows the log.
    Tail<LogSlot.Written> follow(LogAddress from);

    /// Follows a stream.
    Tail<StreamEntry> follow(StreamKey stream, long from);
  }

  /// What comes at the end of a log or stream. One thread reads; any closes.
  ///
  /// @param <E> what is read
  interface Tail<E> {
    /// What is next, null when it is not there yet. Does not wait for it.
    @Nullable E poll();

    /// What is next, null when it did not come in time, or this was closed.
    @Nullable E next(long nanosMax) throws InterruptedException;

    /// Ends it, also while it waits. Called once.
    void close();
  }

  /// The tree of the processes among which objects migrate, as this process takes part in it.
  /// Thread-safe.
  interface Tree {
    /// Whether the calls of this process execute here.
    boolean isHere();

    /// Where the calls on the objects of a domain go, when that [#isHere].
    Placing at(String domain);

    /// Refuses what cannot be done in the middle of an operation on several objects.
    ///
    /// @throws IllegalStateException when one runs on this thread
    void refuseInside(String what);

    /// See [stoa.Stoa#flush].
    void flush();
  }
}
