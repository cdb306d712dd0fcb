package stoa.bench.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import stoa.bench.load.Load;
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
  BARRIER("barrier of 24 parties", "rounds/s");

  private static final int CALLERS = 24;
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

  private static void get(Future<Boolean> done) throws Exception {
    try {
      var _ = done.get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof Exception cause) throw cause;
      throw failed;
    }
  }
}
