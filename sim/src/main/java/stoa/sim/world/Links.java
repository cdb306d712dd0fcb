package stoa.sim.world;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// The network between the processes of a simulation: it delays, repeats and loses questions and
/// answers, as a seed determines. One owner.
public final class Links {
  /// The outcome of a question is unknown. It may still be executed.
  public static final class Lost extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Lost(String message) {
      super(message);
    }
  }

  private static final int SOON_MICROS = 500;
  private static final int LATE_MICROS = 3_000_000;
  private static final int LATEST_MICROS = 25_000_000;

  private final Fibers fibers;
  private final Chance chance;
  private final Trace trace;
  private int lost;
  private int repeated;
  private int late;

  public Links(Fibers fibers, Chance chance, Trace trace) {
    this.fibers = fibers;
    this.chance = chance;
    this.trace = trace;
    lost = chance.of(java.util.List.of(0, 1, 3, 8));
    repeated = chance.of(java.util.List.of(0, 5, 20));
    late = chance.of(java.util.List.of(0, 5, 15));
  }

  /// Stops all losses, repeats and delays.
  public void calm() {
    lost = 0;
    repeated = 0;
    late = 0;
  }

  /// Asks another process, and waits for the answer.
  ///
  /// @param repeats whether it may repeat the question
  /// @throws Unavailable when nothing was asked
  /// @throws Lost when the outcome is unknown
  public <T> T ask(Fibers.@Nullable Life to, boolean repeats, int waitMicros, Supplier<T> action) {
    if (to == null || to.isOver()) {
      fibers.pause(chance.between(1, SOON_MICROS));
      throw new Unavailable("there is nobody");
    }
    var answer = new CompletableFuture<T>();
    if (chance.percent(lost)) trace.reached("a question is lost");
    else deliver(to, action, answer);
    if (repeats && chance.percent(repeated)) {
      trace.reached("a question is repeated");
      deliver(to, action, answer);
    }
    fibers.after(waitMicros, () -> answer.completeExceptionally(new Lost("no answer")));
    try {
      return answer.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) throw cause;
      throw failed;
    }
  }

  /// Asks like [#ask], between parts of the store: a lost question counts as unavailable.
  public <T> T askStore(Fibers.@Nullable Life to, Supplier<T> action) {
    try {
      return ask(to, true, chance.between(1_000_000, 12_000_000), action);
    } catch (Lost unknown) {
      throw new Unavailable("no answer in time", unknown);
    }
  }

  private <T> void deliver(Fibers.Life to, Supplier<T> action, CompletableFuture<T> answer) {
    fibers.after(
        delay(),
        () ->
            to.execute(() -> {
              try {
                T result = action.get();
                back(() -> answer.complete(result));
              } catch (RuntimeException failed) {
                back(() -> answer.completeExceptionally(failed));
              }
            }));
  }

  private void back(Runnable told) {
    if (chance.percent(lost)) trace.reached("an answer is lost");
    else fibers.after(delay(), told);
  }

  private int delay() {
    if (!chance.percent(late)) return chance.between(1, SOON_MICROS);
    return chance.between(1, chance.percent(20) ? LATEST_MICROS : LATE_MICROS);
  }
}
