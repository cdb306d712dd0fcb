package stoa.objects;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.Appended;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.TooOld;
import stoa.base.CallId;
import stoa.base.StreamId;
import stoa.front.SharedStoa;
import stoa.store.streams.StoredStreams;

/// The operations of a server on the streams of its part of a store. Thread-safe. A method marked
/// quick waits for nothing but memory; every other one may wait.
///
/// A part has the streams of its slots. The part of group 0 also has streams of other slots: those
/// that were begun when it still had all of them, and those of the objects that belong to the store
/// as a whole.
public final class StreamService {
  private final SharedStoa stoa;
  private final StoredStreams stored;
  private final Part part;
  private final int callBytesMax;

  StreamService(SharedStoa stoa, StoredStreams stored, Part part, int callBytesMax) {
    this.stoa = stoa;
    this.stored = stored;
    this.part = part;
    this.callBytesMax = callBytesMax;
  }

  /// Returns the streams, for reading, and for appends of this process.
  public StreamStore all() {
    return stoa.streams();
  }

  /// Returns whether this part has a stream that has an entry.
  public boolean has(StreamKey stream) {
    return stored.has(stream);
  }

  /// Returns a stream that this part has, or that would begin here.
  ///
  /// @throws IllegalArgumentException when it belongs to another group
  public StreamKey require(StreamKey stream) {
    int group = part.groups().applyAsInt(new StreamId(stream.high(), stream.low()));
    int own = part.group();
    if (group == own || (own == 0 && has(stream))) return stream;
    throw new IllegalArgumentException(
        "stream "
            + stream
            + " is kept by group "
            + group
            + ", and was asked of group "
            + own
            + "; use the same version of client and server");
  }

  /// Begins to append one entry to each of several streams that this part has. Appends that one
  /// thread begins keep their order.
  ///
  /// @param id the log has it with the entries
  /// @throws LimitExceeded when there are too many streams or bytes; the store logged nothing
  /// @throws IllegalArgumentException as [#require]
  public CompletableFuture<Appended> append(Map<StreamKey, byte[]> data, CallId id) {
    if (data.isEmpty()) throw new IllegalArgumentException("an append names at least one stream");
    if (data.size() > StreamStore.APPEND_STREAMS_MAX) {
      throw new LimitExceeded(
          "an append to %,d streams; an append goes to %,d at most"
              .formatted(data.size(), StreamStore.APPEND_STREAMS_MAX));
    }
    long bytes = 0;
    for (byte[] one : data.values()) bytes += one.length;
    checkBytes(bytes);
    data.keySet().forEach(this::require);
    return stored.appendAsync(List.copyOf(data.keySet()), List.copyOf(data.values()), id);
  }

  /// Checks that an append has not too many bytes.
  ///
  /// @throws LimitExceeded when it has
  void checkBytes(long bytes) {
    if (bytes <= callBytesMax) return;
    throw new LimitExceeded(
        "an append of %,d bytes; callBytesMax is %,d".formatted(bytes, callBytesMax));
  }

  /// Returns an append that an earlier process logged; null when none did.
  ///
  /// @param streams its streams
  /// @param since a log counter in front of it
  /// @throws TooOld when the store has released the entries that would tell
  public @Nullable Appended earlier(List<StreamKey> streams, CallId id, long since) {
    return stored.earlier(streams, id, since);
  }

  /// Returns the stream addresses of the entries that some streams have at a log address, where a
  /// transaction has appended them.
  ///
  /// @throws TooOld when the store has released them
  public List<Appended.Place> appended(List<StreamKey> streams, LogAddress log) {
    return stored.appended(streams, log);
  }
}
