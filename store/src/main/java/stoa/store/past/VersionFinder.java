package stoa.store.past;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.batches.BatchWriter;
import stoa.store.batches.KeyReads;
import stoa.store.leading.AnswerGate;
import stoa.store.records.Records;
import stoa.store.running.Barrier;
import stoa.store.running.Resident;
import stoa.store.running.TimeLimits;
import stoa.store.running.Timeline;
import stoa.store.threads.Threads;

/// Finds which version of a key a reader sees at a place of the log, and waits until that version
/// can no longer change. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class VersionFinder {
  private final Streams streams;
  private final Timeline timeline;
  private final BatchWriter writer;
  private final KeyReads keyReads;
  private final Barrier barrier;
  private final AnswerGate gate;
  private final TimeLimits limits;
  private final Threads threads;

  /// The parts that are needed to wait for a version.
  ///
  /// @param writer writes batches during the wait
  /// @param keyReads makes the key resume unfinished calls
  /// @param barrier waits for the entries that the store logs about executed puts
  /// @param gate knows how far the log is durable
  /// @param limits the time of the reader
  public record Parts(
      BatchWriter writer,
      KeyReads keyReads,
      Barrier barrier,
      AnswerGate gate,
      TimeLimits limits,
      Threads threads) {}

  /// The version of a key that a reader sees at a place of the log.
  ///
  /// @param version the last address of the stream at or below the place
  /// @param position the address of the last change at or below that; 0 when there is none
  /// @param from the log counter of that change
  /// @param until a log counter up to which the stream has no later change
  /// @param tail the end of the stream when the stream has no later change, -1 when it has one
  record Seen(long version, long position, long from, long until, long tail) {}

  public VersionFinder(Streams streams, Timeline timeline, Parts parts) {
    this.streams = streams;
    this.timeline = timeline;
    this.writer = parts.writer;
    this.keyReads = parts.keyReads;
    this.barrier = parts.barrier;
    this.gate = parts.gate;
    this.limits = parts.limits;
    this.threads = parts.threads;
  }

  /// Finds the version of a key that a reader sees at a log counter.
  ///
  /// @param moment a counter up to which the streams are complete
  /// @param tail the end of the stream, read after the moment
  Seen seen(Resident resident, long counter, long moment, long tail) {
    Check.that(counter <= moment, "%s is committed, up to %s", counter, moment);
    StreamId stream = resident.key.stream();
    // Most readers read recent versions: this steps back from the end, each step twice the one
    // before.
    long low = tail;
    long high = tail + 1;
    StoredEntry behind = null;
    StoredEntry last = null;
    for (long step = 1; low > 0; step *= 2) {
      last = entry(stream, low);
      if (last == null || last.log().counter() <= counter) break;
      behind = last;
      high = low;
      low = Math.max(0, high - step);
    }
    while (high - low > 1) {
      long middle = (low + high) >>> 1;
      StoredEntry entry = entry(stream, middle);
      if (entry != null && entry.log().counter() > counter) {
        behind = entry;
        high = middle;
      } else {
        last = entry;
        low = middle;
      }
    }
    long version = low;
    if (low == 0) last = null;
    while (low > 0 && (last == null || !Records.isChange(last))) {
      if (last == null) timeline.check(resident.key, low);
      last = --low == 0 ? null : entry(stream, low);
    }
    long from = last == null ? 0 : last.log().counter();
    long until = behind == null ? moment : behind.log().counter() - 1;
    return new Seen(version, low, from, until, behind == null ? tail : -1);
  }

  private @Nullable StoredEntry entry(StreamId stream, long address) {
    return streams.read(stream, address);
  }

  // ---- settling

  /// Waits until the put at an address and all earlier ones are executed, and everything that the
  /// store logs about them is durable. Returns an address up to which that holds.
  ///
  /// @param lateTick the tick at which the reader's time is over; 0 for none
  public long settled(Resident resident, long position, int lateTick) {
    if (position == 0) return 0;
    long end = settledBefore(resident.key.stream(), position, resident.tail());
    if (end < 0) {
      awaitExecuted(resident, position, lateTick);
      barrier.await(resident);
      end = settledBefore(resident.key.stream(), position, resident.tail());
      if (end < 0) end = resident.tail();
    }
    awaitDurable(resident.key.stream(), end);
    return end;
  }

  /// Waits until a stream is durable up to an address.
  private void awaitDurable(StreamId stream, long address) {
    if (gate.isDurable(gate.appended())) return;
    StoredEntry entry = entry(stream, address);
    gate.await(entry == null ? gate.appended() : entry.log().counter());
  }

  /// Returns the last address before the first put that says that the put at a position was
  /// settled; -1 when no put says so.
  private long settledBefore(StreamId stream, long position, long tail) {
    var found = new long[] {-1};
    streams.scan(
        stream,
        position + 1,
        tail,
        entry -> {
          boolean says =
              entry.kind() == Records.PUT
                  && entry.address() - Records.behind(entry.payload()) >= position;
          if (says) found[0] = entry.address() - 1;
          return !says;
        });
    return found[0];
  }

  /// Waits until the put at an address is executed.
  private void awaitExecuted(Resident resident, long position, int lateTick) {
    for (int spins = 0; !resident.hasExecuted(position); spins++) {
      writer.confirm();
      limits.checkTime(resident.key, lateTick);
      if (!resident.isBusy() && !resident.hasExecuted(position)) {
        // No thread will execute the put: an earlier process left it, or its run was suspended.
        long reached = keyReads.position(resident.key, lateTick);
        if (resident.hasExecuted(position)) return;
        throw new Unavailable(
            resident.key + " is at " + reached + ", and " + position + " cannot be executed");
      }
      if (writer.writeBatch(null)) continue;
      if (resident.isScheduled() && threads.mayRunLong()) {
        resident.runUntil(null);
      } else {
        threads.pause(spins);
      }
    }
  }

  /// Waits for a lock under which threads make states, as long as the reader has time.
  void lock(ReentrantLock making, Key key, int lateTick) {
    if (lateTick == 0) {
      making.lock();
      return;
    }
    while (!making.tryLock()) {
      limits.checkTime(key, lateTick);
      threads.pause();
    }
  }
}
