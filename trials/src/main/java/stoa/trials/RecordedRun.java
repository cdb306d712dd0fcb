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

/// Clients with several threads each that call a store while its servers fail, and the check of the
/// answers: they must be linearizable for each object and key, and strictly serializable over
/// several; listeners must have missed no event, and seen no disorder; each append to streams must
/// be there once, in an order that all readers see.
final class RecordedRun {
  private static final int CLIENTS = 3;
  private static final int THREADS = 3;

  /// The time limit of a call.
  static final Duration CALL_TIME_MAX = Duration.ofSeconds(90);

  private RecordedRun() {}

  /// The failures of a run.
  interface Faults {
    /// Causes failures, and waits for turns between them. On return all servers are well again.
    ///
    /// @param progress the turns of the clients until then
    void happen(CallerProgress progress) throws Exception;

    /// Returns whether all servers of the store are of this release by now; called all the time.
    default boolean areOfThisRelease() {
      return true;
    }

    /// Acts after the clients' last calls, before the run reads everything once more.
    default void afterwards() throws Exception {}
  }

  /// Runs once.
  ///
  /// @param url of the store
  /// @throws AssertionError with an inconsistency
  static void run(String url, Faults faults, Chance chance, Trace trace) throws Exception {
    var config = StoaConfig.of(url).withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX));
    var clients = new ArrayList<Stoa>();
    try {
      for (int i = 0; i < CLIENTS; i++) clients.add(Stoa.open(config));
      var progress = new CallerProgress();
      var work = new RecordedWork(clients.getFirst(), progress, faults::areOfThisRelease);
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var ends = new ArrayList<Future<?>>();
        for (int i = 0; i < CLIENTS * THREADS; i++) {
          String name = "c" + i % CLIENTS + "t" + i / CLIENTS;
          var worker = work.worker(name, clients.get(i % CLIENTS), chance.of(name));
          ends.add(threads.submit(worker::progress));
        }
        finish(happened(faults, progress), ends);
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

  private static @Nullable Exception happened(Faults faults, CallerProgress progress) {
    try {
      faults.happen(progress);
      return null;
    } catch (Exception failed) {
      return failed;
    } finally {
      progress.end();
    }
  }

  /// Ends the run. A client's failure says more than its effect on the failures of servers.
  private static void finish(@Nullable Exception failed, List<Future<?>> ends) throws Exception {
    try {
      for (var end : ends) end.get();
    } catch (ExecutionException client) {
      throw new AssertionError("a client failed: " + client.getCause(), client.getCause());
    }
    if (failed != null) throw failed;
  }
}
