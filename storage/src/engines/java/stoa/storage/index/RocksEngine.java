package stoa.storage.index;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.IndexType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/// RocksDB without its own log, with the budgets of the device.
final class RocksEngine implements IndexEngine {
  private final Options options = new Options();
  private final LRUCache cache;
  private final BloomFilter filter = new BloomFilter(10);
  private final WriteOptions writing = new WriteOptions().setDisableWAL(true);
  private final ReadOptions reading = new ReadOptions().setPrefixSameAsStart(true);
  private final WriteBatch batch = new WriteBatch();
  private final byte[] value = new byte[KeyValue.VALUE_MAX];
  private final RocksDB db;

  RocksEngine(Path directory, int tableBytes, int cacheBytes) throws IOException {
    RocksDB.loadLibrary();
    cache = new LRUCache(cacheBytes, 0); // in one piece, for it is small
    var table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setBlockSize(4096)
            .setFilterPolicy(filter)
            .setWholeKeyFiltering(false)
            .setIndexType(IndexType.kTwoLevelIndexSearch)
            .setPartitionFilters(true)
            .setMetadataBlockSize(4096)
            .setCacheIndexAndFilterBlocks(true);
    options
        .setCreateIfMissing(true)
        .setWriteBufferSize(tableBytes)
        .setMaxWriteBufferNumber(3)
        .setMaxBackgroundJobs(2)
        .useFixedLengthPrefixExtractor(17)
        .setCompressionType(CompressionType.LZ4_COMPRESSION)
        .setTableFormatConfig(table);
    try {
      db = RocksDB.open(options, directory.toString());
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void put(long high, long low, int space, IndexEntry entry) throws IOException {
    int length = KeyValue.put(value, space, entry);
    try {
      batch.put(KeyValue.key(high, low, space, entry.offset), Arrays.copyOf(value, length));
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void remove(long high, long low, int space, long offset) throws IOException {
    try {
      batch.delete(KeyValue.key(high, low, space, offset));
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void show() throws IOException {
    try {
      db.write(writing, batch);
      batch.clear();
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  @Override
  public boolean floor(long high, long low, int space, long offset, IndexEntry found) {
    try (var at = db.newIterator(reading)) {
      at.seekForPrev(KeyValue.key(high, low, space, offset));
      if (!at.isValid()) return false;
      var key = at.key();
      if (!KeyValue.isOf(key, high, low, space)) return false;
      KeyValue.get(at.value(), space, KeyValue.offset(key), found);
      return true;
    }
  }

  @Override
  public void scan(long high, long low, int space, long from, Visitor visitor) {
    var entry = new IndexEntry();
    try (var at = db.newIterator(reading)) {
      at.seek(KeyValue.key(high, low, space, from));
      while (at.isValid()) {
        var key = at.key();
        if (!KeyValue.isOf(key, high, low, space)) return;
        KeyValue.get(at.value(), space, KeyValue.offset(key), entry);
        if (!visitor.visit(entry)) return;
        at.next();
      }
    }
  }

  @Override
  public void settle() throws IOException {
    while (property("num-running-compactions") > 0
        || property("num-running-flushes") > 0
        || property("compaction-pending") > 0
        || property("mem-table-flush-pending") > 0) {
      Thread.onSpinWait();
    }
  }

  @Override
  public long onDisk(long entries) throws IOException {
    return entries - property("num-entries-active-mem-table");
  }

  private long property(String property) throws IOException {
    try {
      return db.getLongProperty("rocksdb." + property);
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    db.close();
    batch.close();
    writing.close();
    reading.close();
    options.close();
    filter.close();
    cache.close();
  }
}
