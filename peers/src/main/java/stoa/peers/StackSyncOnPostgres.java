package stoa.peers;

import java.util.ArrayList;
import java.util.List;
import stoa.bench.stacksync.StackSyncContender;
import stoa.peers.PostgresStackSync.Form;

/// The forms of StackSync on PostgreSQL that the benchmark measures.
public final class StackSyncOnPostgres implements StackSyncContender.Others {
  /// Creates them for [java.util.ServiceLoader].
  public StackSyncOnPostgres() {}

  @Override
  public List<StackSyncContender> contenders(boolean all) {
    if (!all) return List.of(new PostgresStackSync(Form.PROCEDURE, 1, true));
    var contenders = new ArrayList<StackSyncContender>();
    for (boolean synchronous : new boolean[] {true, false}) {
      for (int shards : List.of(1, 2, 4)) {
        contenders.add(new PostgresStackSync(Form.PROCEDURE, shards, synchronous));
      }
    }
    contenders.add(new PostgresStackSync(Form.PROXY, 2, true));
    contenders.add(new PostgresStackSync(Form.PROXY, 4, true));
    for (boolean synchronous : new boolean[] {true, false}) {
      contenders.add(new PostgresStackSync(Form.JDBC, 1, synchronous));
      contenders.add(new PostgresStackSync(Form.HIBERNATE, 1, synchronous));
    }
    return contenders;
  }
}
