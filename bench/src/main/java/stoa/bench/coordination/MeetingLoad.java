package stoa.bench.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.remote.Meeting;

/// One load of the benchmark of coordination.
enum MeetingLoad {
  /// One caller acquires and releases the lock.
  LOCK("lock and unlock, 1 caller", "pairs/s"),
  /// Many callers do, each as soon as it gets the lock.
  CONTENDED("lock and unlock, 24 callers of one lock", "pairs/s"),
  /// An element goes to a caller that waits for it.
  HAND_OVER("take after offer", "elements/s"),
  /// Parties wait for each other, again and again.
  BARRIER("barrier of 24 parties", "rounds/s"),
  /// Callers set timers that are due much later.
  TIMERS_SET("timers set, 24 callers", "timers/s"),
  /// Timers ring that are due at the same moment.
  TIMERS_RING("timers ring that are due together", "timers/s");

  private static final int CALLERS = 24;

  // How often it asks how many timers have rung.
  private static final long LOOK_NANOS = 1_000_000;

  // Longer than the benchmark.
  private static final Duration LATER = Duration.ofHours(5);
  private static final long STOP = -1;

  private final String text;
  private final String unit;

  MeetingLoad(String text, String unit) {
    this.text = text;
    this.unit = unit;
  }

  @Override
  public String toString() {
    return text;
  }

  String unit() {
    return unit;
  }

  /// Returns whether a contender has what it needs.
  boolean fits(Meeting meeting) {
    return this != BARRIER || meeting.hasBarrier();
  }

  /// Runs it.
  ///
  /// @param name of the measure that gets the rate; the latencies get the same with `, p50` and `,
  ///   p99`
  /// @param rounds counts the rounds of the barrier so far
  /// @param time how long it counts; for timers that ring, also how many there are
  void sample(
      Samples samples,
      String name,
      Meeting meeting,
      AtomicLong rounds,
      Duration warmUp,
      Duration time)
      throws Exception {
    switch (this) {
      case LOCK -> samples.add(name, lock(meeting, 1, warmUp, time));
      case CONTENDED -> samples.add(name, lock(meeting, CALLERS, warmUp, time));
      case HAND_OVER -> samples.add(name, handOver(meeting, warmUp, time));
      case BARRIER -> {
        pass(meeting, rounds, warmUp);
        samples.add(name, pass(meeting, rounds, time));
      }
      case TIMERS_SET ->
          samples.add(
              name,
              new Load(CALLERS, Load.Threads.PLATFORM, warmUp, time)
                  .run((_, _) -> meeting.setTimer(LATER)));
      case TIMERS_RING -> samples.add(name, ring(meeting, time));
    }
  }

  private static Load.Seen lock(Meeting meeting, int callers, Duration warmUp, Duration time)
      throws Exception {
    return new Load(callers, Load.Threads.PLATFORM, warmUp, time)
        .run((_, _) -> meeting.unlock(meeting.lock()));
  }

  private static Load.Seen handOver(Meeting meeting, Duration warmUp, Duration time)
      throws Exception {
    var taken = new Semaphore(0);
    Callable<Boolean> taking =
        () -> {
          while (meeting.take() != STOP) taken.release();
          return true;
        };
    try (var taker = Executors.newSingleThreadExecutor()) {
      Future<Boolean> done = taker.submit(taking);
      try {
        return new Load(1, Load.Threads.PLATFORM, warmUp, time)
            .run((_, turn) -> {
              meeting.offer(turn);
              taken.acquire();
            });
      } finally {
        meeting.offer(STOP);
        get(done);
      }
    }
  }

  /// Lets parties pass the barrier for a while; returns the rounds in a second.
  private static double pass(Meeting meeting, AtomicLong rounds, Duration time) throws Exception {
    long began = System.nanoTime();
    long first = rounds.get();
    // The first party says, before a round, whether another one follows it.
    var last = new AtomicLong(Long.MAX_VALUE);
    var parties = new ArrayList<Future<Boolean>>();
    try (var threads = Executors.newFixedThreadPool(CALLERS)) {
      for (int i = 0; i < CALLERS; i++) {
        int party = i;
        parties.add(
            threads.submit(() -> {
              for (long round = first + 1; round <= last.get(); round++) {
                if (party == 0 && System.nanoTime() - began > time.toNanos()) last.set(round);
                meeting.pass(party, CALLERS, round);
              }
              return true;
            }));
      }
      for (var party : parties) get(party);
    }
    rounds.set(last.get());
    return (last.get() - first) * 1e9 / (System.nanoTime() - began);
  }

  /// Lets timers ring that are due at the same moment; returns how many a second, from then on. Two
  /// for each millisecond of the time.
  private static double ring(Meeting meeting, Duration time) throws Exception {
    int count = Math.max(CALLERS, (int) (2 * time.toMillis()));
    long before = meeting.rings();
    long set = 0;
    for (long lead = 2 * time.toNanos(); ; lead *= 2) {
      long due = System.nanoTime() + lead;
      Parallel.run(
          CALLERS,
          count,
          _ -> meeting.setTimer(Duration.ofNanos(Math.max(1, due - System.nanoTime()))));
      set += count;
      boolean isInTime = System.nanoTime() < due;
      long rung = awaitRings(meeting, before + set);
      if (isInTime) return count * 1e9 / (rung - due);
    }
  }

  /// Waits until timers have rung; returns when they had.
  private static long awaitRings(Meeting meeting, long count) throws Exception {
    while (meeting.rings() < count) LockSupport.parkNanos(LOOK_NANOS);
    return System.nanoTime();
  }

  private static void get(Future<Boolean> done) throws Exception {
    try {
      var _ = done.get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof Exception cause) throw cause;
      throw failed;
    }
  }
}
