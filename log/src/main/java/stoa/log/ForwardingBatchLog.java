package stoa.log;

import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// Forwards everything to another log: the base of logs that delay, count or refuse, in simulations
/// and measurements. It makes each batch durable by itself, so that all batches pass [#append]. As
/// thread-safe as the other one.
public class ForwardingBatchLog implements BatchLog {
  private final BatchLog log;

  /// Creates it.
  ///
  /// @param log the other log, which this closes with itself
  public ForwardingBatchLog(BatchLog log) {
    this.log = log;
  }

  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    log.append(batch, done);
  }

  @Override
  public void makeRoom(long bytes) {
    log.makeRoom(bytes);
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
  public boolean isReplicated() {
    return log.isReplicated();
  }

  @Override
  public @Nullable Function<StreamId, ByteObject> objects(Executor executor) {
    return log.objects(executor);
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
