package stoa.store.nesting;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Key;
import stoa.base.Repeats;
import stoa.store.batches.BatchWriter;
import stoa.store.batches.KeyReads;
import stoa.store.running.Request;
import stoa.store.running.Runs;
import stoa.store.running.Unfinished;
import stoa.store.threads.Threads;

/// Resumes the puts that an earlier process, or this one, left unfinished after they had put to
/// other keys. Thread-safe.
public final class Resuming {
  private static final Logger LOG = LoggerFactory.getLogger(Resuming.class);

  private final Repeats repeats = new Repeats();

  // How many ticks pass before this retries a put that it could not resume.
  private static final int AGAIN_TICKS = 20;

  private final BatchWriter writer;
  private final KeyReads keyReads;
  private final Unfinished unfinished;
  private final Runs runs;
  private final Threads threads;
  private final Map<Key, Request> under = new ConcurrentHashMap<>();
  private volatile @Nullable BiFunction<String, byte[], Key> keys;
  private int ticks;

  public Resuming(
      BatchWriter writer, KeyReads keyReads, Unfinished unfinished, Runs runs, Threads threads) {
    this.writer = writer;
    this.keyReads = keyReads;
    this.unfinished = unfinished;
    this.runs = runs;
    this.threads = threads;
  }

  /// Begins to resume puts, and waits for those that do not themselves wait for other stores. If
  /// there are other stores, the wait is limited to twice the time of one call.
  public void begin(BiFunction<String, byte[], Key> named) {
    long end = runs.clock.nowMicros() + 2 * runs.limits.callMicrosMax();
    for (Unfinished.Name name : unfinished.earlier()) {
      Request request = resume(named, name);
      if (request == null) continue;
      if (!runs.others().hasNeighbors()) {
        var _ = writer.await(request);
        continue;
      }
      request.resident.help(request);
      while (!request.isDone()
          && !BatchWriter.waitsForOtherGroup(request)
          && runs.clock.nowMicros() < end) {
        if (threads.mayRunLong()) request.resident.runUntil(request);
        if (!request.isDone()) threads.pause();
      }
    }
    keys = named;
  }

  private @Nullable Request resume(BiFunction<String, byte[], Key> named, Unfinished.Name name) {
    try {
      Key key = named.apply(name.space(), name.name());
      if (under.containsKey(key)) return null;
      Request request = keyReads.positionAsync(key);
      under.put(key, request);
      request.whenDone(done -> {
        under.remove(key);
        try {
          done.check();
          unfinished.resumed(key);
        } catch (RuntimeException failure) {
          tell(name, failure);
        }
      });
      return request;
    } catch (RuntimeException failure) {
      tell(name, failure);
      return null;
    }
  }

  private void tell(Unfinished.Name name, RuntimeException failure) {
    repeats.tell(
        "a call on a key of " + name.space() + " cannot go on yet: " + failure.getMessage(),
        LOG::warn);
  }

  /// Notes a tick; retries at some ticks.
  public void tick() {
    var named = keys;
    if (named == null || ++ticks < AGAIN_TICKS) return;
    ticks = 0;
    for (Unfinished.Name name : unfinished.earlier()) {
      // Another thread does this, since it may have to wait for the key.
      threads.answer(() -> {
        var _ = resume(named, name);
      });
    }
  }
}
