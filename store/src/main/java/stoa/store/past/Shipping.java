package stoa.store.past;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.batches.KeyReads;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.Resident;
import stoa.store.running.Target;

/// Reads from streams what copies of keys in other processes need to go on (vCorfu, section 4.2: a
/// local view plays back the stream). Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Shipping {
  /*
   * A copy elsewhere executes what a replica here executes, from the same checkpoints on, see
   * Materialized: equal states may differ in their shape in memory, on which a method may depend.
   * So a copy never begins with a state that was encoded between two checkpoints and then goes on
   * by changes.
   *
   * A copy that is behind more than one checkpoint begins again: a checkpoint is due when the puts
   * since the last one have as many bytes as the state. So the changes in a shipment have about as
   * many bytes as the state, at most.
   */
  private static final int ENTRY_BYTES = 32;

  private final Playback playback;
  private final KeyReads keyReads;
  private final Streams streams;

  public Shipping(Playback playback, KeyReads keyReads, Streams streams) {
    this.playback = playback;
    this.keyReads = keyReads;
    this.streams = streams;
  }

  /// Returns what brings a copy up to date, after every answer that any caller got before; null
  /// when only a whole state does.
  public @Nullable Shipment ship(Target target, Shipment.From from, Shipment.Replays replays) {
    playback.checkOpen();
    Key key = target.key();
    StreamId stream = key.stream();
    int late = playback.runs().limits.endAfter(playback.runs().limits.callTimeMax());
    long moment = keyReads.now(key);
    Resident resident = target.pin();
    try {
      playback.confirm();
      VersionFinder finder = playback.finder();
      VersionFinder.Seen seen = finder.seen(resident, moment, moment, resident.tail());
      long position = seen.position();
      if (position == 0) return null;
      Streams.At mark = streams.lastMark(stream, position);
      if (mark == null || !Records.mark(mark.data()).alive()) return null;
      if (position == from.known()) {
        return new Shipment(position, mark.address(), seen.from(), null, List.of(), false, 0);
      }
      long end = finder.settled(resident, position, late);
      var reading = new Reading(key, mark.address(), position, end, replays);
      boolean isSame = from.version() >= 0 && from.generation() == mark.address();
      if (isSame && from.version() >= reading.goesOnMin()) {
        Shipment next = reading.behind(from.version(), null, from.bytesMax());
        if (next != null && !isReleased(stream, from.version() + 1)) return next;
      }
      Shipment.Base base = base(stream, mark.address(), position, from.basedMin(), replays);
      if (base == null) return null;
      Shipment begins = reading.behind(base.version(), base, from.bytesMax());
      return isReleased(stream, base.version() + 1) ? null : begins;
    } finally {
      resident.unpin();
    }
  }

  private boolean isReleased(StreamId stream, long address) {
    return address < streams.firstKept(stream);
  }

  private Shipment.@Nullable Base base(
      StreamId stream, long generation, long position, int basedMin, Shipment.Replays replays) {
    long at = streams.checkpointAt(stream, position);
    if (at < generation) return basedMin > 0 ? null : new Shipment.Base(generation - 1, null);
    Streams.At checkpoint = streams.lastCheckpoint(stream, position);
    if (checkpoint == null || checkpoint.address() < generation) return null;
    if (checkpoint.data().length < basedMin || !replays.begins(checkpoint.data())) return null;
    return new Shipment.Base(checkpoint.address(), checkpoint.data());
  }

  /// The part of a stream of one generation, up to the present version.
  private final class Reading {
    private final Key key;

    // The address of the put that began the generation.
    private final long generation;

    // The address of the present version.
    private final long position;

    // An address up to which the stream has everything about that version.
    private final long end;

    private final Shipment.Replays replays;

    private Reading(Key key, long generation, long position, long end, Shipment.Replays replays) {
      this.key = key;
      this.generation = generation;
      this.position = position;
      this.end = end;
      this.replays = replays;
    }

    /// Returns the oldest version from which a copy goes on, rather than to begin again.
    private long goesOnMin() {
      long last = streams.checkpointAt(key.stream(), position);
      if (last <= generation) return generation;
      return Math.max(generation, streams.checkpointAt(key.stream(), last - 1));
    }

    /// Returns the changes behind a version; null when the other process cannot execute them.
    private @Nullable Shipment behind(long version, Shipment.@Nullable Base base, int bytesMax) {
      var logged = new LoggedAnswers();
      var changes = new ArrayList<StoredEntry>();
      // The last change that is taken; the position unless the bytes end before.
      var last = new long[] {position};
      var bytes = new long[1];
      var fits = new boolean[] {true};
      streams.scan(
          key.stream(),
          version + 1,
          end,
          entry -> {
            fits[0] = note(entry, logged);
            boolean isTaken = entry.address() <= last[0];
            if (isTaken && (Records.isChange(entry) || entry.kind() == Records.CHECKPOINT)) {
              changes.add(entry);
              bytes[0] += entry.payload().length + ENTRY_BYTES;
              if (bytes[0] >= bytesMax) last[0] = entry.address();
            }
            return fits[0] && (isTaken || !settles(entry, last[0]));
          });
      return fits[0] ? shipment(version, base, changes, logged) : null;
    }

    private boolean note(StoredEntry entry, LoggedAnswers logged) {
      if (Records.isChange(entry)) return true;
      logged.note(entry);
      return entry.kind() != Records.ANSWERED
          || replays.sees(Records.answered(entry.payload()).space());
    }

    /// Returns whether an entry says that the stream has everything about a put.
    private static boolean settles(StoredEntry entry, long put) {
      return entry.kind() == Records.PUT
          && entry.address() - Records.behind(entry.payload()) >= put;
    }

    private @Nullable Shipment shipment(
        long version,
        Shipment.@Nullable Base base,
        List<StoredEntry> entries,
        LoggedAnswers logged) {
      var changes = new ArrayList<Shipment.Change>();
      boolean begun = version >= generation;
      long last = version;
      long from = 0;
      for (StoredEntry entry : entries) {
        if (entry.kind() == Records.DELETE) return null; // behind a beginning that was taken back
        if (entry.kind() == Records.CHECKPOINT) {
          if (begun) changes.add(checkpoint(entry));
          continue;
        }
        last = entry.address();
        from = entry.log().counter();
        Records.Put put = Records.put(entry.payload());
        if (logged.isTakenBack(entry.address())) {
          if (put.begins()) return null;
          continue;
        }
        if (put.begins() != (entry.address() == generation) || !replays.executes(put)) return null;
        begun = true;
        changes.add(change(entry, put, logged.of(entry.address())));
      }
      if (from == 0) {
        StoredEntry present = streams.read(key.stream(), position);
        if (present == null) return null;
        from = present.log().counter();
      }
      boolean more = last < position;
      last = Math.max(last, version);
      long checkpoint = streams.checkpointAt(key.stream(), last);
      return new Shipment(
          last, generation, from, base, changes, more, checkpoint > version ? checkpoint : 0);
    }

    private Shipment.Change checkpoint(StoredEntry entry) {
      return new Shipment.Change(entry.address(), entry.kind(), 0, 0, null, List.of());
    }

    private Shipment.Change change(StoredEntry entry, Records.Put put, List<byte[]> answers) {
      long seed = Execution.seed(key, entry.address(), entry.nowMicros(), put.origin());
      return new Shipment.Change(
          entry.address(), entry.kind(), entry.nowMicros(), seed, put, answers);
    }
  }
}
