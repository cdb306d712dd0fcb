package stoa.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.log.Batch;
import stoa.log.Outcome;
import stoa.log.ShardLog;
import stoa.log.Streams;

/// The end of a [SimulatedShard] at one leader, for as long as it leads and every outcome is known.
/// After that it takes no more batches: elect a leader again.
///
/// One owner, the owner of the shard.
public final class SimulatedShardLog implements ShardLog {
  private final SimulatedShard shard;
  final SimulatedShard.Replica replica;
  final long leadership;

  /* Whether an outcome was told to be unknown. */
  boolean failed;

  /* What the replica made of the batch that was proposed last, once it has applied it. */
  @Nullable Outcome outcome;

  SimulatedShardLog(SimulatedShard shard, SimulatedShard.Replica replica, long leadership) {
    this.shard = shard;
    this.replica = replica;
    this.leadership = leadership;
  }

  /// The term under which this leader proposes, above that of every leader before it.
  @Override
  public long term() {
    return leadership;
  }

  /// Proposes a batch; [SimulatedShard#step] brings the outcome.
  @Override
  public void append(Batch batch, Consumer<Outcome> done) {
    shard.propose(this, batch, done);
  }

  @Override
  public void seal(long epoch) {
    shard.seal(this, epoch);
  }

  @Override
  public Tail tail() {
    return replica.log().tail();
  }

  @Override
  public Streams streams() {
    return replica.log().streams();
  }

  /// Takes no more batches; the shard itself goes on.
  @Override
  public void close() {
    failed = true;
  }
}
