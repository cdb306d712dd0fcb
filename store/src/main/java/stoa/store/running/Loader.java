package stoa.store.running;

import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.log.Streams;
import stoa.store.leading.Health;
import stoa.store.records.KeyRefusals;
import stoa.store.records.Records;

/// Makes states of keys from their streams, and finds there what became of puts. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Loader {
  public final Runs runs;
  public final Streams streams;
  public final Timeline timeline;
  final Barrier barrier;
  final Keeper keeper;
  public final Health health;

  public Loader(
      Runs runs,
      Streams streams,
      Timeline timeline,
      Barrier barrier,
      Keeper keeper,
      Health health) {
    this.runs = runs;
    this.streams = streams;
    this.timeline = timeline;
    this.barrier = barrier;
    this.keeper = keeper;
    this.health = health;
  }

  // ---- states

  /// The state of a key, not loaded yet.
  public Materialized state(Key key) {
    return new Materialized(this, key, runs.factory(key), Materialized.Use.READ);
  }

  /// A state at a replica that follows: its checkpoints are kept, as they are where the key lives.
  public Materialized following(Key key) {
    return new Materialized(this, key, runs.factory(key), Materialized.Use.FOLLOWED);
  }

  /// As [#following], of which nothing is kept.
  public Materialized trying(Key key) {
    return new Materialized(this, key, runs.factory(key), Materialized.Use.TRIED);
  }

  // ---- what became of puts

  /// The answer to an executed put.
  public Answer answerFromLog(Key target, long address) {
    barrier.await(target);
    return answerInLog(target, address);
  }

  /// The answer to an executed put; null when that was taken back, or found its key absent.
  @Nullable Answer findAnswer(Key target, long address) {
    barrier.await(target);
    return answerInStream(target, address);
  }

  /// See [Store#replay].
  public @Nullable Answer replay(Key target, long address, HandlerFactory factory) {
    barrier.await(target);
    int end = runs.limits.end(TimeLimits.ticks(runs.limits.callTimeMax()));
    try {
      return answerInStream(
          target,
          address,
          new Materialized(this, target, factory, Materialized.Use.READ).until(end));
    } catch (Execution.Suspended stopped) {
      throw stopped.reason();
    }
  }

  private @Nullable Answer answerInStream(Key target, long address) {
    return answerInStream(target, address, state(target));
  }

  private @Nullable Answer answerInStream(Key target, long address, Materialized past) {
    return past.loadAnswer(address, streams.last(target.stream()));
  }

  /// As [#answerFromLog], of a put whose nested answers are known to be in its stream.
  public Answer answerInLog(Key target, long address) {
    Answer answer = answerInStream(target, address);
    return answer != null ? answer : runs.factory(target).failure(reason(target, address));
  }

  /// Why a put was taken back.
  RuntimeException reason(Key key, long address) {
    var verdicts = new ArrayList<Records.Verdict>();
    streams.scan(
        key.stream(),
        address + 1,
        streams.last(key.stream()),
        entry -> {
          if (entry.kind() == Records.VERDICT) {
            Records.Verdict verdict = Records.verdict(entry.payload());
            if (verdict.call() == address) verdicts.add(verdict);
          }
          return verdicts.isEmpty();
        });
    return verdicts.isEmpty() ? KeyRefusals.gone(key) : verdicts.getFirst().why().exception();
  }
}
