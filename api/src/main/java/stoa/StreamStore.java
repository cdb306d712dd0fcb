package stoa;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/// The streams below the objects: append-only sequences of bytes that share one global log, with
/// the operations of vCorfu's Table 1.
///
/// A stream comes to be with its first entry. Each entry has an address in its stream, from 1 and
/// without gaps, by which it is read alone, and an address in the global log, which orders it among
/// all entries of all streams and objects of the store. Log order and stream order agree.
///
/// ```java
/// var streams = stoa.streams();
/// var alice = StreamKey.of("alice");
/// Appended at = streams.append(alice, "6am".getBytes(UTF_8));
/// List<StreamEntry> logins = streams.readAll(alice);
/// ```
///
/// Appends take no part in transactions: one that is made within [Stoa#transact] stands, whatever
/// becomes of the transaction.
///
/// The streams of shared objects are in the same log. They can be read through this, see
/// [#streamOf], and not appended to.
///
/// Thread-safe. What is read or answered is durable. Every method throws [Closed] when the store
/// was closed, and [Unavailable] when it has failed and must be opened again; methods that read
/// throw [Corrupt] when what they read is damaged.
public interface StreamStore {
  /// How many streams one append may go to.
  int APPEND_STREAMS_MAX = 1_024;

  /// How many bytes of entries one call may answer in a list.
  int READ_BYTES_MAX = 256 << 20;

  // ---- append(stream, data)

  /// Appends an entry and waits until it is durable.
  ///
  /// @param data its content, copied; may be empty
  /// @throws LimitExceeded when it has more bytes than [Limits#callBytesMax()], or too many calls
  ///   are under way; nothing was logged
  /// @throws IllegalArgumentException when the stream is that of an object, or the store's own
  /// @throws UnknownOutcome when the log failed meanwhile; open the store again and read
  Appended append(StreamKey stream, byte[] data);

  /// Appends an entry to each of several streams, at once or not at all, and waits until it is
  /// durable: one log address, and an address in each stream (section 3.3).
  ///
  /// @param data what goes to each, at most [#APPEND_STREAMS_MAX] streams and together
  ///   [Limits#callBytesMax()] bytes; copied
  /// @throws LimitExceeded as [#append(StreamKey, byte[])], and when there are too many streams
  /// @throws IllegalArgumentException as [#append(StreamKey, byte[])], and when there is no stream
  /// @throws UnknownOutcome as [#append(StreamKey, byte[])]
  Appended append(Map<StreamKey, byte[]> data);

  /// Appends entries to one stream, in order, each at a log address of its own, and waits until all
  /// are durable. Others may append between them. For any number: only a bounded part is under way
  /// at a time.
  ///
  /// @throws LimitExceeded as [#append(StreamKey, byte[])], for the first entry that is refused;
  ///   those before it were appended
  List<Appended> appendAll(StreamKey stream, List<byte[]> data);

  /// Begins to append an entry. What one thread begins in this way is appended in that order. A
  /// refusal completes the answer exceptionally.
  CompletableFuture<Appended> appendAsync(StreamKey stream, byte[] data);

  /// Begins to append to several streams, as [#append(Map)] does.
  CompletableFuture<Appended> appendAsync(Map<StreamKey, byte[]> data);

  // ---- read(laddresses)

  /// What is at a log address.
  LogSlot read(LogAddress address);

  /// What is at each of several log addresses, in the order of the list.
  ///
  /// @throws LimitExceeded when it is more than [#READ_BYTES_MAX]
  List<LogSlot> read(List<LogAddress> addresses);

  /// Visits what was written to the log from one address to another, both inclusive, in order,
  /// until the visitor answers false. Holes and what was trimmed are passed over; the end is that
  /// of the log when the call began.
  void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor);

  /// Follows the global log, in order. Holes and what was trimmed are passed over.
  ///
  /// @param from where to begin; [#BEGINNING] for the oldest entry
  /// @throws LimitExceeded when there are [#FOLLOWERS_MAX] followers already
  Follower<LogSlot.Written> follow(LogAddress from);

  /// Below every log address.
  LogAddress BEGINNING = new LogAddress(0, 0);

  /// How many followers there may be at a time.
  int FOLLOWERS_MAX = 10_000;

  /// The last address of the log now: everything up to it is settled.
  LogAddress tail();

  // ---- read(stream, saddresses)

  /// The entry of a stream at an address; nothing when that is not yet written.
  ///
  /// @throws TooOld when it was trimmed
  Optional<StreamEntry> read(StreamKey stream, long address);

  /// The entries of a stream at several addresses, in the order of the list; those that are not yet
  /// written are left out.
  ///
  /// @throws TooOld when one of them was trimmed
  /// @throws LimitExceeded when they are more than [#READ_BYTES_MAX]
  List<StreamEntry> read(StreamKey stream, List<Long> addresses);

  /// The entries of a stream from one address to another, both inclusive, in one bulk read.
  ///
  /// @throws TooOld when the first was trimmed
  /// @throws LimitExceeded when they are more than [#READ_BYTES_MAX]; read a shorter range, or
  ///   [#scan(StreamKey, long, long, Predicate)]
  List<StreamEntry> read(StreamKey stream, long from, long to);

  /// The entries of a stream, from the oldest that was not trimmed to the last, in one bulk read.
  ///
  /// @throws LimitExceeded as [#read(StreamKey, long, long)]
  List<StreamEntry> readAll(StreamKey stream);

  /// Visits the entries of a stream from one address to another, both inclusive, in order, until
  /// the visitor answers false.
  ///
  /// @throws TooOld when the first was trimmed
  void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor);

  /// Follows a stream, in order.
  ///
  /// @param from the first stream address that is read
  /// @throws LimitExceeded when there are [#FOLLOWERS_MAX] followers already
  Follower<StreamEntry> follow(StreamKey stream, long from);

  // ---- check, trim, fillhole

  /// The last address of a stream, 0 when it has no entry.
  long check(StreamKey stream);

  /// The oldest address of a stream that was not trimmed, 0 when it has no entry.
  long oldest(StreamKey stream);

  /// Releases the entries of a stream below an address, here and in the global log, for good. Their
  /// addresses are never used again. The last entry of a stream always stays.
  ///
  /// @throws IllegalArgumentException when the stream is that of an object, whose past is trimmed
  ///   with [History]
  void trim(StreamKey stream, long before);

  /// Settles a log address and answers what is there: what was written, or a hole for good. In a
  /// store of one process every address up to [#tail()] is settled already, and one behind it is
  /// refused, with [LogSlot.NotYetWritten].
  LogSlot fillHole(LogAddress address);

  // ---- objects

  /// The stream of a shared object, to be read.
  ///
  /// @throws UnsupportedOperationException when another group than group 0 keeps the object: the
  ///   streams of that group cannot be read. [History#entries] answers the calls of such an object
  StreamKey streamOf(Ref<?> ref);
}
