package stoa.cassandra;

import java.util.List;
import stoa.bench.ycsb.YcsbContender;
import stoa.cassandra.CassandraNodes.Sync;

/// Cassandra's contenders in `./stoa bench ycsb`.
public final class CassandraContenders implements YcsbContender.Others {
  private static final int NODES = 3;

  /// Creates it for `ServiceLoader`.
  public CassandraContenders() {}

  @Override
  public List<YcsbContender> contenders(YcsbContender.Forms forms) {
    var one = new CassandraYcsb(1, Sync.BATCH);
    return forms == YcsbContender.Forms.ALL
        ? List.of(
            new CassandraYcsb(NODES, Sync.BATCH),
            new CassandraYcsb(NODES, Sync.PERIODIC),
            one,
            new CassandraYcsb(1, Sync.PERIODIC))
        : List.of(one);
  }
}
