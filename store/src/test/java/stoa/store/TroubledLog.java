package stoa.store;

import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.log.Batch;
import stoa.log.Outcome;
import stoa.log.ShardLog;
import stoa.log.Streams;

/// A log in front of which something may happen to a batch.
///
/// @param log that it stands for
/// @param trouble may wait, and answers what becomes of a batch that is not appended; null for
///   nothing
record TroubledLog(ShardLog log, Function<Batch, @Nullable Outcome> trouble) implements ShardLog {
  @Override
  public void append(Batch batch, Consumer<Outcome> done) {
    Outcome outcome = trouble.apply(batch);
    if (outcome == null) log.append(batch, done);
    else done.accept(outcome);
  }

  @Override
  public void seal(long epoch) {
    log.seal(epoch);
  }

  @Override
  public long term() {
    return log.term();
  }

  @Override
  public void confirm() {
    log.confirm();
  }

  @Override
  public Tail tail() {
    return log.tail();
  }

  @Override
  public Streams streams() {
    return log.streams();
  }

  @Override
  public void close() {
    log.close();
  }
}
