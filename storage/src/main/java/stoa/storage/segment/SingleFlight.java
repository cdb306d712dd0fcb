package stoa.storage.segment;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/// Lets one of several threads do what all of them wait for.
///
/// Thread-safe. Who finds that it was done in the meantime goes on at once: unlike with a lock,
/// those that waited need not pass one behind the other.
final class SingleFlight {
  /*
   * Who fails to become busy read `round` before. The one that is busy replaces the round after it has
   * ceased to be, and ends the one that it replaced; so that or an earlier end of the round that was read
   * is still to come, or has come.
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

  /// What one thread does at a time.
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }
}
