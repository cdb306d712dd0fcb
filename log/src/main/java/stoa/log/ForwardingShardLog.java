package stoa.log;

import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// Stands in front of another log and leaves everything to it: for logs that delay, count or refuse
/// something of it, in simulations and measurements. As thread-safe as the other one.
public class ForwardingShardLog implements ShardLog {
  private final ShardLog log;

  /// @param log that it stands in front of, which it closes with itself
  public ForwardingShardLog(ShardLog log) {
    this.log = log;
  }

  @Override
  public void append(Batch batch, Consumer<Outcome> done) {
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
