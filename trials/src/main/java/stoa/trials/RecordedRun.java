package stoa.trials;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// Clients with several threads each that call a store, while something happens to those who keep
/// it, and the judgement of what they were answered: it must be linearizable for each object and
/// key, and strictly serializable over several; listeners must have missed nothing, and seen no
/// disorder.
final class RecordedRun {
  private static final int CLIENTS = 3;
  private static final int THREADS = 3;

  /// How long a call may take.
  static final Duration CALL_TIME_MAX = Duration.ofSeconds(90);

  private RecordedRun() {}

  /// What happens.
  interface Faults {
    /// Lets things happen, and waits for turns between them. All is whole again when this returns.
    ///
    /// @param turns which clients take until then
    void happen(Turns turns) throws Exception;

    /// Returns whether all who keep the store have blobs by now; asked all the time.
    default boolean allowsBlobs() {
      return true;
    }

    /// What happens when clients have made their last calls, before all is read once more.
    default void afterwards() throws Exception {}
  }

  /// Runs once.
  ///
  /// @param url of the store
  /// @throws AssertionError with what cannot be explained
  static void run(String url, Faults faults, Chance chance, Trace trace) throws Exception {
    var config = StoaConfig.of(url).withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX));
    var clients = new ArrayList<Stoa>();
    try {
      for (int i = 0; i < CLIENTS; i++) clients.add(Stoa.open(config));
      var turns = new Turns();
      var work = new RecordedWork(clients.getFirst(), turns, faults::allowsBlobs);
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var ends = new ArrayList<Future<?>>();
        for (int i = 0; i < CLIENTS * THREADS; i++) {
          String name = "c" + i % CLIENTS + "t" + i / CLIENTS;
          var worker = work.worker(name, clients.get(i % CLIENTS), chance.of(name));
          ends.add(threads.submit(worker::turns));
        }
        finish(happened(faults, turns), ends);
      }
      faults.afterwards();
      work.require(clients.getFirst());
      work.places()
          .forEach((place, count) -> {
            for (long i = 0; i < count; i++) trace.reached(place);
          });
    } finally {
      clients.forEach(Stoa::close);
    }
  }

  private static @Nullable Exception happened(Faults faults, Turns turns) {
    try {
      faults.happen(turns);
      return null;
    } catch (Exception failed) {
      return failed;
    } finally {
      turns.end();
    }
  }

  /// What went wrong with a client says more than what that did to the faults.
  private static void finish(@Nullable Exception failed, List<Future<?>> ends) throws Exception {
    try {
      for (var end : ends) end.get();
    } catch (ExecutionException client) {
      throw new AssertionError("a client failed: " + client.getCause(), client.getCause());
    }
    if (failed != null) throw failed;
  }
}
