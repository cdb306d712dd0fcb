package stoa.store.past;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.batches.KeyReads;
import stoa.store.records.KeyRefusals;
import stoa.store.running.Execution;
import stoa.store.running.Materialized;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Resident;
import stoa.store.running.Runs;
import stoa.store.running.Target;

/// A second state of a key beside the store's own, which follows the key by playback (vCorfu,
/// section 4.2: a local view).
///
/// Thread-safe. It answers one question at a time, on the calling thread. When memory is short, the
/// cache drops the state; the state comes back from the last checkpoint.
@SuppressWarnings("exports") // see the package
public final class LocalView {
  /*
   * Readers see the state from the log counter `from` up to `until`; behind `until` it is unknown.
   * When the stream's last address has not changed, a look costs only a read of that address.
   *
   * While a thread holds this lock, it takes no other lock but those of Versions. The holders of
   * those locks wait for no other thread.
   */
  private static final long UNKNOWN = -1;

  /// The result of a question.
  ///
  /// @param answer the answer
  /// @param generation the generation of the key, 0 when it is absent
  public record Read(Answer answer, long generation) {}

  /// Learns which part of the log a state shows, before it is asked.
  public interface Window {
    /// Takes the window.
    ///
    /// @param from the log counter of the last change that the state shows
    /// @param until a counter up to which there is no later change
    void saw(long from, long until);
  }

  private final Playback playback;
  private final Runs runs;
  private final KeyReads keyReads;
  private final Target target;
  private final Key key;
  private final ReentrantLock lock = new ReentrantLock();
  private final Memory memory = new Memory();

  // Guarded by lock.
  private @Nullable Materialized state;
  private long from;
  private long until;
  private long tail;
  private long weight;

  public LocalView(Playback playback, KeyReads keyReads, Target target) {
    this.playback = playback;
    this.runs = playback.runs();
    this.keyReads = keyReads;
    this.target = target;
    this.key = target.key();
  }

  /// Asks the present key. The answer reflects every answer that any caller got before.
  public Read now(@Nullable Object query, Existence existence) {
    return now(query, existence, runs.limits.callTimeMax(), (_, _) -> {});
  }

  /// Asks the present key, within a time.
  public Read now(@Nullable Object query, Existence existence, Duration timeMax, Window window) {
    playback.checkOpen();
    int late = lateTick(timeMax);
    long moment = keyReads.now(key);
    playback.finder().lock(lock, key, late);
    try {
      Materialized current = bring(moment, late);
      window.saw(from, Math.max(from, until));
      return ask(current, query, existence, moment, late);
    } finally {
      lock.unlock();
    }
  }

  /// Asks the key as the view saw it last, without waiting for changes in progress. The answer
  /// reflects everything that callers in this process have seen before, of any key; it reflects a
  /// later change once the store has executed it. All such questions and all calls therefore have
  /// one order, the order of the log.
  public Read seen(@Nullable Object query, Existence existence) {
    return seen(query, existence, runs.limits.callTimeMax(), (_, _) -> {});
  }

  /// Asks the key as the view saw it last, within a time.
  public Read seen(@Nullable Object query, Existence existence, Duration timeMax, Window window) {
    playback.checkOpen();
    int late = lateTick(timeMax);
    playback.finder().lock(lock, key, late);
    try {
      long least = playback.observed().counter();
      Materialized current = bring(least, late);
      playback.observed().advance(from);
      window.saw(from, Math.max(from, until));
      return ask(current, query, existence, Math.max(least, from), late);
    } finally {
      lock.unlock();
    }
  }

  /// Returns the tick at which the time of a new question is over; 0 for none.
  private int lateTick(Duration timeMax) {
    return runs.limits.end(runs.limits.ownTicks(timeMax));
  }

  /// Brings the state to a log counter, or to a later one if that needs no wait.
  private Materialized bring(long least, int lateTick) {
    while (true) {
      try {
        return bringTo(least, lateTick);
      } catch (TooOld released) {
        // The store has released the requested version; the present is available.
        if (least >= playback.moments().moment()) throw released;
        state = null;
        least = playback.moments().moment();
      }
    }
  }

  private Materialized bringTo(long least, int lateTick) {
    long moment = playback.moments().moment();
    Materialized current = state;
    if (current != null && tail != UNKNOWN && target.tail() == tail) {
      until = Math.max(until, moment);
      return current;
    }
    VersionFinder finder = playback.finder();
    Resident resident = target.pin();
    try {
      playback.confirm();
      long last = resident.tail();
      VersionFinder.Seen seen = finder.seen(resident, moment, moment, last);
      if (!resident.hasExecuted(seen.position()) && resident.isBusy()) {
        if (current != null && until >= least) return current;
        seen = finder.seen(resident, least, moment, last);
      }
      if (current == null || seen.from() != from) {
        long end = finder.settled(resident, seen.position(), lateTick);
        current = play(current, seen.position(), end, lateTick);
      }
      from = seen.from();
      until = Math.max(seen.until(), 0);
      tail = seen.tail();
      state = current;
    } finally {
      resident.unpin();
    }
    long now = current.weight();
    long change = now - weight;
    weight = now;
    if (!memory.held) {
      memory.held = true;
      playback.versions().kept().add(memory, now);
    } else if (change != 0) {
      playback.versions().kept().reweigh(change);
    }
    return current;
  }

  private Materialized play(@Nullable Materialized current, long position, long end, int lateTick) {
    if (current != null) {
      state = null; // a failed playback leaves it in doubt
      if (current.until(lateTick).advance(position, end)) return current;
    }
    Materialized loaded = playback.state(key).until(lateTick);
    loaded.load(position, end);
    return loaded;
  }

  private Read ask(
      Materialized current,
      @Nullable Object query,
      Existence existence,
      long counter,
      int lateTick) {
    memory.used = true;
    RuntimeException diverged = runs.bans.refusal(key, current.generation());
    if (diverged != null) throw diverged;
    if (existence.isGone(current.generation(), current.position())) throw KeyRefusals.gone(key);
    Execution execution = Execution.beside(runs, key, current.position(), 0);
    execution.counter = counter;
    try {
      Answer answer =
          runs.here(
              execution,
              runs.limits.left(lateTick),
              () -> current.get(query, existence.opening(), execution));
      playback.observed().advance(execution.asked ? counter : from);
      return new Read(answer, current.generation());
    } catch (Execution.Suspended stopped) {
      throw QuestionRequest.failure(stopped.reason());
    } catch (DeadlineExceeded | CallFailed stopped) {
      state = null; // the run may have changed it
      tail = UNKNOWN;
      throw stopped;
    }
  }

  /// The memory of the state, which the cache may drop.
  private final class Memory implements BoundedCache.Item {
    private volatile boolean used = true;

    // Guarded by lock.
    private boolean held;

    @Override
    public boolean wasUsed() {
      boolean was = used;
      used = false;
      return was;
    }

    @Override
    public long drop() {
      if (lock.isHeldByCurrentThread() || !lock.tryLock()) return BoundedCache.inUse();
      try {
        long freed = weight;
        state = null;
        weight = 0;
        held = false;
        return freed;
      } finally {
        lock.unlock();
      }
    }
  }
}
