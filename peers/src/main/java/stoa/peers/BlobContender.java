package stoa.peers;

import java.nio.file.Path;
import org.rocksdb.RocksDBException;
import stoa.bench.storage.Contender;

/// RocksDB with values from 4 KiB in blob files (BlobDB).
public final class BlobContender implements Contender {
  /// The contender.
  public BlobContender() {}

  @Override
  public String name() {
    return "BlobDB";
  }

  @Override
  public String how() {
    return "as RocksDB, with values from 4 KiB in blob files";
  }

  @Override
  public Store open(Path folder) throws RocksDBException {
    return new RocksStore(folder, RocksStore.Values.IN_BLOBS);
  }
}
