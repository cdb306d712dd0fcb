package stoa.bench.remote;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import stoa.bench.load.Load;
import stoa.bench.remote.RemoteContender.Connection;
import stoa.bench.remote.RemoteContender.Operation;

/// The load of the callers of one client.
///
/// @param operation the operation of each caller
/// @param callers the number of callers
/// @param counters the number of counters that they spread over; 1 for other operations
record RemoteLoad(Operation operation, int callers, int counters) {
  /// The bytes of a value.
  static final int VALUE_BYTES = 100;

  /// The most counters of a load.
  static final int COUNTERS_MAX = 100;

  private static final int PLATFORM_THREADS_MAX = 24;

  /// The papers' micro-benchmarks, and the hot counter and cached reads.
  static final List<RemoteLoad> ALL =
      List.of(
          new RemoteLoad(Operation.PUT, 1, 1),
          new RemoteLoad(Operation.INCREMENT, 1, 1),
          new RemoteLoad(Operation.QUEUE, 1, 1),
          new RemoteLoad(Operation.PUT, 24, 1),
          new RemoteLoad(Operation.INCREMENT, 24, 1),
          new RemoteLoad(Operation.INCREMENT, 24, 10),
          new RemoteLoad(Operation.INCREMENT, 24, COUNTERS_MAX),
          new RemoteLoad(Operation.QUEUE, 24, 1),
          new RemoteLoad(Operation.INCREMENT, 240, 1),
          new RemoteLoad(Operation.CACHED, 1, 1));

  /// Returns the operation, in a word.
  String what() {
    return switch (operation) {
      case PUT -> "put";
      case INCREMENT -> "inc";
      case QUEUE -> "enq;deq";
      case CACHED -> "cached read";
    };
  }

  @Override
  public String toString() {
    String who = "%s, %d caller%s".formatted(what(), callers, callers == 1 ? "" : "s");
    return operation != Operation.INCREMENT
        ? who
        : "%s, %d counter%s".formatted(who, counters, counters == 1 ? "" : "s");
  }

  /// The callers' measurements, and the number of their calls, including the warm-up.
  record Done(Load.Seen seen, long calls) {}

  /// Runs the callers to their end.
  ///
  /// @param increments counts the answered increments
  Done run(Connection client, Duration warmUp, Duration time, AtomicLongArray increments)
      throws Exception {
    var calls = new LongAdder();
    byte[] value = new byte[VALUE_BYTES];
    Load.Body body =
        switch (operation) {
          case PUT -> (_, _) -> client.put(value);
          case INCREMENT ->
              (caller, turn) -> {
                int counter = (caller + turn) % counters;
                client.increment(counter);
                increments.incrementAndGet(counter);
              };
          case QUEUE ->
              (caller, turn) -> {
                client.enqueue((long) caller << Integer.SIZE | turn);
                client.dequeue();
              };
          case CACHED -> (_, _) -> client.cached();
        };
    var threads = callers <= PLATFORM_THREADS_MAX ? Load.Threads.PLATFORM : Load.Threads.VIRTUAL;
    var seen =
        new Load(callers, threads, warmUp, time)
            .run((caller, turn) -> {
              body.call(caller, turn);
              calls.increment();
            });
    return new Done(seen, calls.sum());
  }
}
