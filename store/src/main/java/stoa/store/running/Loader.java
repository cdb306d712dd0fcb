package stoa.store.running;

import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.log.Streams;
import stoa.store.leading.Health;
import stoa.store.records.KeyRefusals;
import stoa.store.records.Records;

/// Builds states of keys from their streams, and finds the outcome of puts there. Thread-safe.
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

  /// Returns the state of a key, not loaded yet.
  public Materialized state(Key key) {
    return new Materialized(this, key, runs.factory(key), Materialized.Use.READ);
  }

  /// Returns the state of a key at a replica that follows. The replica keeps the checkpoints, as
  /// the leader does.
  public Materialized following(Key key) {
    return new Materialized(this, key, runs.factory(key), Materialized.Use.FOLLOWED);
  }

  /// Returns a state like [#following]; the replica keeps nothing of it.
  public Materialized trying(Key key) {
    return new Materialized(this, key, runs.factory(key), Materialized.Use.TRIED);
  }

  // ---- the outcome of puts

  /// Returns the answer of an executed put.
  public Answer answerFromLog(Key target, long address) {
    barrier.await(target);
    return answerInLog(target, address);
  }

  /// Returns the answer of an executed put; null when a verdict took it back, or when it found its
  /// key absent.
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

  /// Returns the answer of an executed put whose nested answers are known to be in its stream.
  public Answer answerInLog(Key target, long address) {
    Answer answer = answerInStream(target, address);
    return answer != null ? answer : runs.factory(target).failure(reason(target, address));
  }

  /// Returns the error with which a put was taken back.
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
