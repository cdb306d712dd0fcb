package stoa;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/// The streams below the objects: append-only sequences of bytes that share one global log, with
/// the operations of vCorfu's Table 1.
///
/// The first entry creates a stream. Each entry has an address in its stream, from 1 and without
/// gaps, and an address in the global log, which orders it among all entries of all streams and
/// objects of the store. Log order and stream order agree.
///
/// ```java
/// var streams = stoa.streams();
/// var alice = StreamKey.of("alice");
/// Appended at = streams.append(alice, "6am".getBytes(UTF_8));
/// List<StreamEntry> logins = streams.readAll(alice);
/// ```
///
/// In a store of several groups, a hash of a stream's key decides which group keeps the stream. All
/// groups share one global log: log addresses order the entries of all of them, and an append to
/// streams of several groups has one address. A group takes many addresses at a time and does not
/// use all of them, so the log has many holes. A client asks all groups about log addresses, and
/// one group about a stream.
///
/// An append executes once, however often a connection breaks or a server restarts.
///
/// Appends take no part in transactions: an append within [Stoa#transact] stands, whatever the
/// outcome of the transaction.
///
/// The streams of shared objects are in the same log. Programs can read them here, see [#streamOf],
/// but not append to them.
///
/// Thread-safe. Everything read or answered is durable. Every method throws [Closed] when the store
/// was closed, and [Unavailable] when it has failed and must be opened again; methods that read
/// throw [Corrupt] when the data is damaged.
public interface StreamStore {
  /// The most streams of one append.
  int APPEND_STREAMS_MAX = 1_024;

  /// The most bytes of entries that one call returns in a list.
  int READ_BYTES_MAX = 256 << 20;

  // ---- append(stream, data)

  /// Appends an entry and waits until it is durable.
  ///
  /// @param data its content, copied; may be empty
  /// @throws LimitExceeded when it has more bytes than [Limits#callBytesMax()], or too many calls
  ///   are in progress; the store logged nothing
  /// @throws IllegalArgumentException when the stream belongs to an object, or to the store itself
  /// @throws UnknownOutcome when the log failed meanwhile, and for a client of servers, when no
  ///   answer came in time; open the store again and read
  Appended append(StreamKey stream, byte[] data);

  /// Appends an entry to each of several streams, at once or not at all, and waits until they are
  /// durable: one log address, and an address in each stream (section 3.3). Readers of the log and
  /// of the streams see all of the entries or none. Streams of several groups cost a transaction
  /// over groups, which takes longer than an append in one group.
  ///
  /// @param data the entry for each stream, at most [#APPEND_STREAMS_MAX] streams and together
  ///   [Limits#callBytesMax()] bytes; copied
  /// @throws LimitExceeded as [#append(StreamKey, byte[])], and when there are too many streams
  /// @throws IllegalArgumentException as [#append(StreamKey, byte[])], and when there is no stream
  /// @throws UnknownOutcome as [#append(StreamKey, byte[])]
  Appended append(Map<StreamKey, byte[]> data);

  /// Appends entries to one stream, in order, each at a log address of its own, and waits until all
  /// are durable. Other callers may append between them. Takes any number: only a bounded part is
  /// in progress at a time.
  ///
  /// @throws LimitExceeded as [#append(StreamKey, byte[])], for the first refused entry; those
  ///   before it are appended
  List<Appended> appendAll(StreamKey stream, List<byte[]> data);

  /// Begins to append an entry. Appends to one stream that one thread begins in this way keep their
  /// order; appends to streams of different groups have an order when one ends before the other
  /// begins. A refusal completes the future exceptionally.
  CompletableFuture<Appended> appendAsync(StreamKey stream, byte[] data);

  /// Begins to append to several streams, as [#append(Map)] does.
  CompletableFuture<Appended> appendAsync(Map<StreamKey, byte[]> data);

  // ---- read(laddresses)

  /// Returns the content of a log address.
  LogSlot read(LogAddress address);

  /// Returns the content of several log addresses, in the order of the list.
  ///
  /// @throws LimitExceeded when it exceeds [#READ_BYTES_MAX]
  List<LogSlot> read(List<LogAddress> addresses);

  /// Visits the entries of the log from one address to another, both inclusive, in order, until the
  /// visitor returns false. Skips holes and trimmed addresses. Ends at the end that the log had
  /// when the call began.
  void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor);

  /// Follows the global log, in order. Skips holes and trimmed addresses. To resume later, follow
  /// from behind the last address that the follower returned.
  ///
  /// @param from the first address; [#BEGINNING] for the oldest entry
  /// @throws LimitExceeded when there are [#FOLLOWERS_MAX] followers already
  Follower<LogSlot.Written> follow(LogAddress from);

  /// An address below every log address.
  LogAddress BEGINNING = new LogAddress(0, 0);

  /// The most followers at a time.
  int FOLLOWERS_MAX = 10_000;

  /// Returns the present last address of the log: every address up to it is settled. It has an
  /// entry, or is a hole.
  LogAddress tail();

  // ---- read(stream, saddresses)

  /// Returns the entry of a stream at an address; nothing when it is not yet written.
  ///
  /// @throws TooOld when it was trimmed
  Optional<StreamEntry> read(StreamKey stream, long address);

  /// Returns the entries of a stream at several addresses, in the order of the list, without those
  /// that are not yet written.
  ///
  /// @throws TooOld when one of them was trimmed
  /// @throws LimitExceeded when they exceed [#READ_BYTES_MAX]
  List<StreamEntry> read(StreamKey stream, List<Long> addresses);

  /// Returns the entries of a stream from one address to another, both inclusive, in one bulk read.
  ///
  /// @throws TooOld when the first was trimmed
  /// @throws LimitExceeded when they exceed [#READ_BYTES_MAX]; read a shorter range, or
  ///   [#scan(StreamKey, long, long, Predicate)]
  List<StreamEntry> read(StreamKey stream, long from, long to);

  /// Returns the entries of a stream, from the oldest one that was not trimmed to the last, in one
  /// bulk read.
  ///
  /// @throws LimitExceeded as [#read(StreamKey, long, long)]
  List<StreamEntry> readAll(StreamKey stream);

  /// Visits the entries of a stream from one address to another, both inclusive, in order, until
  /// the visitor returns false.
  ///
  /// @throws TooOld when the first was trimmed
  void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor);

  /// Follows a stream, in order.
  ///
  /// @param from the first stream address to read
  /// @throws LimitExceeded when there are [#FOLLOWERS_MAX] followers already
  Follower<StreamEntry> follow(StreamKey stream, long from);

  // ---- check, trim, fillhole

  /// Returns the last address of a stream, 0 when it has no entry.
  long check(StreamKey stream);

  /// Returns the oldest address of a stream that was not trimmed, 0 when it has no entry.
  long oldest(StreamKey stream);

  /// Releases the entries of a stream below an address, here and in the global log, for good. No
  /// later entry gets their addresses. The last entry of a stream always stays.
  ///
  /// @throws IllegalArgumentException when the stream belongs to an object, whose past [History]
  ///   trims
  void trim(StreamKey stream, long before);

  /// Settles a log address and returns its content: entries, or a hole for good. Every address up
  /// to [#tail()] is settled already. A later address stays [LogSlot.NotYetWritten].
  LogSlot fillHole(LogAddress address);

  // ---- objects

  /// Returns the stream of a shared object, for reading.
  StreamKey streamOf(Ref<?> ref);
}
