package stoa.sim.world;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;

/// A log on one device, copied to others batch by batch at its user's command: the replicas of a
/// group without a way to agree on a leader.
///
/// One owner, who also copies.
public final class ShippedLog implements BatchLog {
  private sealed interface Step {
    record Written(Batch batch) implements Step {}

    record Sealed(long epoch, long counter) implements Step {}
  }

  private final LocalBatchLog log;
  private final List<Step> steps;
  private final Set<StreamId> streams = new LinkedHashSet<>();

  /// Creates a leader on a log, with nothing to copy yet.
  public ShippedLog(LocalBatchLog log) {
    this(log, new ArrayList<>());
  }

  private ShippedLog(LocalBatchLog log, List<Step> steps) {
    this.log = log;
    this.steps = steps;
  }

  /// Continues on the log of a copy, as far as that is: the later entries are gone.
  public ShippedLog continuedOn(LocalBatchLog other) {
    long counter = other.tail().counter();
    var kept = new ArrayList<Step>();
    for (Step step : steps) {
      if (counter(step) <= counter) kept.add(step);
    }
    return new ShippedLog(other, kept);
  }

  private static long counter(Step step) {
    return switch (step) {
      case Step.Written(Batch batch) -> batch.token().first().counter();
      case Step.Sealed(_, long counter) -> counter;
    };
  }

  /// Copies the next step that another log lacks.
  ///
  /// @param applied receives the batch, if the step is one, when the log has it
  /// @return false when it lacks nothing
  /// @throws RuntimeException when the other's device failed
  public boolean ship(LocalBatchLog other, Consumer<Batch> applied) {
    long counter = other.tail().counter();
    int next = indexBehind(counter);
    if (next == steps.size()) return false;
    switch (steps.get(next)) {
      case Step.Sealed(long epoch, _) -> other.seal(epoch);
      case Step.Written(Batch batch) -> {
        write(other, batch);
        applied.accept(batch);
      }
    }
    return true;
  }

  private static void write(LocalBatchLog other, Batch batch) {
    other.append(
        batch,
        outcome -> {
          switch (outcome) {
            case BatchOutcome.Committed() -> {
              // The same as at its first log.
            }
            case BatchOutcome.Refused(RuntimeException cause) -> throw cause;
            case BatchOutcome.Unknown(RuntimeException cause) -> throw cause;
            case BatchOutcome.Fenced(long epoch) ->
                throw new AssertionError("a copied batch is fenced by epoch " + epoch);
          }
        });
  }

  private int indexBehind(long counter) {
    int low = 0;
    int high = steps.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (counter(steps.get(middle)) <= counter) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /// Returns the streams of all batches so far.
  public Set<StreamId> seen() {
    return streams;
  }

  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    log.append(
        batch,
        outcome -> {
          if (outcome instanceof BatchOutcome.Committed) {
            steps.add(new Step.Written(batch));
            for (Entry entry : batch.entries()) streams.add(entry.stream());
          }
          done.accept(outcome);
        });
  }

  @Override
  public void seal(long epoch) {
    log.seal(epoch);
    steps.add(new Step.Sealed(epoch, log.tail().counter()));
  }

  @Override
  public long term() {
    return log.term();
  }

  @Override
  public boolean isReplicated() {
    return true;
  }

  @Override
  public void confirm() {
    // No other log leads.
  }

  @Override
  public Tail tail() {
    return log.tail();
  }

  @Override
  public Streams streams() {
    return log.streams();
  }

  /// Leaves the devices open.
  @Override
  public void close() {}
}
