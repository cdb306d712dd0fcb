package stoa.storage.segment;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/// Lets one of several threads do the work that all of them wait for.
///
/// Thread-safe. A thread that finds the work done continues at once: unlike with a lock, waiting
/// threads need not pass one after the other.
final class SingleFlight {
  /*
   * A thread that fails to become busy has read `round` before. The busy thread replaces the round
   * after it has ceased to be busy, and then ends the replaced one. So the end of the round that
   * the other thread has read is still to come, or has come.
   */
  private final AtomicBoolean busy = new AtomicBoolean();
  private final AtomicReference<Round> round = new AtomicReference<>(new Round());

  /// Returns when `done` is true; until then runs `step`, again and again, or waits while another
  /// thread does.
  void until(BooleanSupplier done, Step step) throws IOException {
    while (!done.getAsBoolean()) {
      var present = Objects.requireNonNull(round.get());
      if (!busy.compareAndSet(false, true)) {
        present.end.join();
        continue;
      }
      try {
        if (!done.getAsBoolean()) step.run();
      } finally {
        busy.set(false);
        Objects.requireNonNull(round.getAndSet(new Round())).end.complete(true);
      }
    }
  }

  private static final class Round {
    private final CompletableFuture<Boolean> end = new CompletableFuture<>();
  }

  /// The work of one thread at a time.
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }
}
