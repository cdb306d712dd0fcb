package stoa.peers;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;
import stoa.bench.maps.MapContender;
import stoa.bench.maps.OpenMap;

/// RocksDB as a map, with a synced write-ahead log and its group commit.
public final class RocksMaps implements MapContender {
  private static final long CACHE_BYTES = 512 << 20;

  static {
    RocksDB.loadLibrary();
  }

  /// The contender.
  public RocksMaps() {}

  @Override
  public String name() {
    return "RocksDB";
  }

  @Override
  public String how() {
    return "synced write-ahead log with its group commit; a cache larger than the data";
  }

  @Override
  public OpenMap open(Path folder) throws RocksDBException {
    return new Opened(folder);
  }

  private static final class Opened implements OpenMap {
    private final LRUCache cache = new LRUCache(CACHE_BYTES);
    private final Options options =
        new Options()
            .setCreateIfMissing(true)
            .setWriteBufferSize(64 << 20)
            .setMaxBackgroundJobs(2)
            .setAllowConcurrentMemtableWrite(true)
            .setEnablePipelinedWrite(true)
            .setRecycleLogFileNum(2)
            .setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(cache));
    private final WriteOptions synced = new WriteOptions().setSync(true);
    private final RocksDB db;

    Opened(Path folder) throws RocksDBException {
      db = RocksDB.open(options, folder.toString());
    }

    @Override
    public byte @Nullable [] get(String key) {
      try {
        return db.get(key.getBytes(StandardCharsets.UTF_8));
      } catch (RocksDBException failed) {
        throw new IllegalStateException(failed);
      }
    }

    @Override
    public void put(String key, byte[] value) throws RocksDBException {
      db.put(synced, key.getBytes(StandardCharsets.UTF_8), value);
    }

    @Override
    public void close() {
      db.close();
      synced.close();
      options.close();
      cache.close();
    }
  }
}
