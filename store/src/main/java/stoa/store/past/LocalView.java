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
import stoa.store.batches.Questions;
import stoa.store.records.KeyRefusals;
import stoa.store.running.Execution;
import stoa.store.running.Materialized;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Resident;
import stoa.store.running.Runs;
import stoa.store.running.Target;

/// A state of a key that is kept beside the store's own and follows it by playback (vCorfu, section
/// 4.2: a local view).
///
/// Thread-safe; questions are answered one at a time, on the calling thread. When memory is short
/// the state is dropped, and comes back from the last checkpoint.
@SuppressWarnings("exports") // see the package
public final class LocalView {
  /*
   * The state is what is seen from the log counter `from` up to `until`; nobody has looked further.
   * To look costs a read of the stream's last address, when that has not changed.
   *
   * It takes no lock while it holds its own but those of Versions, whose holders wait for nobody.
   */
  private static final long UNKNOWN = -1;

  /// What a question was answered with.
  ///
  /// @param answer the answer
  /// @param generation of the key, 0 when it is absent
  public record Read(Answer answer, long generation) {}

  private final Playback playback;
  private final Runs runs;
  private final Questions questions;
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

  public LocalView(Playback playback, Questions questions, Target target) {
    this.playback = playback;
    this.runs = playback.runs();
    this.questions = questions;
    this.target = target;
    this.key = target.key();
  }

  /// Asks the key as it is now: what was answered before, to anybody, is seen.
  public Read now(@Nullable Object query, Existence existence) {
    return now(query, existence, runs.limits.callTimeMax());
  }

  /// As [#now(Object, Existence)], within a time.
  public Read now(@Nullable Object query, Existence existence, Duration timeMax) {
    playback.checkOpen();
    int late = lateTick(timeMax);
    long moment = questions.now(key);
    playback.finder().lock(lock, key, late);
    try {
      return ask(bring(moment, late), query, existence, moment, late);
    } finally {
      lock.unlock();
    }
  }

  /// Asks the key as it was seen last. What this process has seen before, of any key, is seen; what
  /// comes later is as soon as it is executed, and is not waited for. So all that is asked in this
  /// way, and all calls, happen in one order, which is that of the log.
  public Read seen(@Nullable Object query, Existence existence) {
    return seen(query, existence, runs.limits.callTimeMax());
  }

  /// As [#seen(Object, Existence)], within a time.
  public Read seen(@Nullable Object query, Existence existence, Duration timeMax) {
    playback.checkOpen();
    int late = lateTick(timeMax);
    playback.finder().lock(lock, key, late);
    try {
      long least = playback.observed().counter();
      Materialized current = bring(least, late);
      return ask(current, query, existence, Math.max(least, from), late);
    } finally {
      lock.unlock();
    }
  }

  /// The tick at which the time is over of a question that is asked now; 0 for none.
  private int lateTick(Duration timeMax) {
    return runs.limits.end(runs.limits.ownTicks(timeMax));
  }

  /// Brings the state to what is seen at a log counter, or at a later one if that is not to be
  /// waited for.
  private Materialized bring(long least, int lateTick) {
    while (true) {
      try {
        return bringTo(least, lateTick);
      } catch (TooOld released) {
        // What was to be seen is the past by now: the present is there.
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
      state = null; // if playback fails, it is in doubt
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
      state = null; // where it was stopped is not known
      tail = UNKNOWN;
      throw stopped;
    }
  }

  /// The state, as memory that may be taken away.
  private final class Memory implements BoundedCache.Item {
    private volatile boolean used = true;

    /// Guarded by lock.
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
