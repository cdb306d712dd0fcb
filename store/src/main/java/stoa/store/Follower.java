package stoa.store;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;

/// A state of a key that is kept beside the store's own and follows it by playback (vCorfu, section
/// 4.2: a local view).
///
/// Thread-safe; questions are answered one at a time, on the calling thread. When memory is short
/// the state is dropped, and comes back from the last checkpoint.
public final class Follower {
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

  private final Engine engine;
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

  Follower(Engine engine, Target target) {
    this.engine = engine;
    this.target = target;
    this.key = target.key();
  }

  /// Asks the key as it is now: what was answered before, to anybody, is seen.
  public Read now(@Nullable Object query, Existence existence) {
    return now(query, existence, engine.callTimeMax());
  }

  /// As [#now(Object, Existence)], within a time.
  public Read now(@Nullable Object query, Existence existence, Duration timeMax) {
    engine.health().checkOpen();
    int late = lateTick(timeMax);
    long moment = engine.questions().now(key);
    engine.versions().lock(lock, key, late);
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
    return seen(query, existence, engine.callTimeMax());
  }

  /// As [#seen(Object, Existence)], within a time.
  public Read seen(@Nullable Object query, Existence existence, Duration timeMax) {
    engine.health().checkOpen();
    int late = lateTick(timeMax);
    engine.versions().lock(lock, key, late);
    try {
      long least = engine.observed().counter();
      Materialized current = bring(least, late);
      return ask(current, query, existence, Math.max(least, from), late);
    } finally {
      lock.unlock();
    }
  }

  /// The tick at which the time is over of a question that is asked now; 0 for none.
  private int lateTick(Duration timeMax) {
    return engine.deadlines().end(engine.ticks(timeMax));
  }

  /// Brings the state to what is seen at a log counter, or at a later one if that is not to be
  /// waited for.
  private Materialized bring(long least, int lateTick) {
    while (true) {
      try {
        return bringTo(least, lateTick);
      } catch (TooOld released) {
        // What was to be seen is the past by now: the present is there.
        if (least >= engine.moments().moment()) throw released;
        state = null;
        least = engine.moments().moment();
      }
    }
  }

  private Materialized bringTo(long least, int lateTick) {
    long moment = engine.moments().moment();
    Materialized current = state;
    if (current != null && tail != UNKNOWN && target.tail() == tail) {
      until = Math.max(until, moment);
      return current;
    }
    Versions versions = engine.versions();
    Resident resident = target.pin();
    try {
      engine.health().confirm();
      long last = resident.tail();
      Versions.Seen seen = versions.seen(resident, moment, moment, last);
      if (!resident.hasExecuted(seen.position()) && resident.isBusy()) {
        if (current != null && until >= least) return current;
        seen = versions.seen(resident, least, moment, last);
      }
      if (current == null || seen.from() != from) {
        long end = versions.settled(resident, seen.position(), lateTick);
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
      engine.versions().kept().add(memory, now);
    } else if (change != 0) {
      engine.versions().kept().reweigh(change);
    }
    return current;
  }

  private Materialized play(@Nullable Materialized current, long position, long end, int lateTick) {
    if (current != null) {
      state = null; // if playback fails, it is in doubt
      if (current.until(lateTick).advance(position, end)) return current;
    }
    var loaded =
        new Materialized(engine, key, engine.spaces().factory(key.space())).until(lateTick);
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
    RuntimeException diverged = engine.quarantine().refusal(key, current.generation());
    if (diverged != null) throw diverged;
    if (existence.isGone(current.generation(), current.position())) throw Refusals.gone(key);
    var execution =
        new Execution(
            engine,
            Execution.Mode.READING,
            key,
            null,
            current.position(),
            engine.nowMicros(),
            0,
            null,
            null);
    execution.counter = counter;
    try {
      Answer answer =
          engine
              .deadlines()
              .here(
                  execution,
                  lateTick == 0 ? 0 : Math.max(1, lateTick - engine.runners().now()),
                  () -> current.get(query, existence.opening(), execution));
      engine.observed().advance(execution.asked ? counter : from);
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
