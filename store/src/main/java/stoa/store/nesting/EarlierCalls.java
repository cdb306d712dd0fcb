package stoa.store.nesting;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.batches.KeyReads;
import stoa.store.calls.PriorOutcome;
import stoa.store.past.Past;
import stoa.store.past.Playback;
import stoa.store.records.Records;
import stoa.store.running.Loader;
import stoa.store.running.Timeline;

/// Finds in the log the outcome of calls that an earlier process made. Thread-safe.
public final class EarlierCalls {
  private final Streams streams;
  private final Timeline timeline;
  private final KeyReads keyReads;
  private final Loader loader;
  private final Playback playback;

  public EarlierCalls(
      Streams streams, Timeline timeline, KeyReads keyReads, Loader loader, Playback playback) {
    this.streams = streams;
    this.timeline = timeline;
    this.keyReads = keyReads;
    this.loader = loader;
    this.playback = playback;
  }

  /// Returns the address of the put that an earlier run of a handler made on a key; 0 when it made
  /// none.
  ///
  /// @param counter a log counter in front of the put
  long address(Key target, Records.Origin origin, long counter) {
    StreamId stream = target.stream();
    long last = streams.last(stream);
    long low = timeline.firstBehind(stream, counter);
    var found = new long[1];
    streams.scan(
        stream,
        low,
        last,
        entry -> {
          if (entry.kind() == Records.PUT && origin.equals(Records.originOf(entry.payload()))) {
            found[0] = entry.address();
          }
          return found[0] == 0;
        });
    return found[0];
  }

  /// Returns the answer of an executed put.
  Answer answer(Key key, long address) {
    return loader.answerFromLog(key, address);
  }

  /// Returns the address of the first entry about a client's call, see [Store#arrived]; 0 when
  /// there is none.
  public long arrived(Key key, Records.Origin origin, long since) {
    StreamId stream = key.stream();
    long last = streams.last(stream);
    long low = Math.max(timeline.firstBehind(stream, since), timeline.oldest(key));
    var found = new long[1];
    streams.scan(
        stream,
        low,
        last,
        entry -> {
          boolean is = entry.kind() == Records.PUT || entry.kind() == Records.ARRIVED;
          if (is && origin.equals(Records.originOf(entry.payload()))) found[0] = entry.address();
          return found[0] == 0;
        });
    return found[0];
  }

  /// Returns the outcome of a client's call, see [Store#earlier]. A call that waited for a
  /// condition is in the log several times; the last of them is its outcome.
  public @Nullable PriorOutcome earlier(Key key, Records.Origin origin, long since) {
    long executed = keyReads.position(key);
    StreamId stream = key.stream();
    long low = timeline.firstBehind(stream, since);
    var found = new StoredEntry[1];
    streams.scan(
        stream,
        low,
        executed,
        entry -> {
          boolean change = entry.kind() == Records.PUT || entry.kind() == Records.DELETE;
          if (change && origin.equals(Records.originOf(entry.payload()))) found[0] = entry;
          return true;
        });
    StoredEntry entry = found[0];
    if (entry == null) {
      // The store may have released the put, if its caller has waited for long.
      if (low > 1 && streams.read(stream, low - 1) == null) {
        timeline.check(key, low - 1);
      }
      return null;
    }
    Past then = playback.after(key, entry.address());
    long counter = entry.log().counter();
    if (entry.kind() == Records.DELETE) {
      long ended = playback.after(key, entry.address() - 1).generation();
      return new PriorOutcome(null, ended, counter);
    }
    return new PriorOutcome(loader.answerFromLog(key, entry.address()), then.generation(), counter);
  }
}
