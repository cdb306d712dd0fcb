package stoa.peers;

import java.nio.file.Path;
import org.rocksdb.RocksDBException;
import stoa.bench.storage.Contender;

/// RocksDB, every write in its log and synced, values in its tables.
public final class RocksContender implements Contender {
  /// The contender.
  public RocksContender() {}

  @Override
  public String name() {
    return "RocksDB";
  }

  @Override
  public String how() {
    return "extents of at most 64 KiB as values, synced write-ahead log with its group commit";
  }

  @Override
  public Store open(Path folder) throws RocksDBException {
    return new RocksStore(folder, RocksStore.Values.IN_TABLES);
  }
}
