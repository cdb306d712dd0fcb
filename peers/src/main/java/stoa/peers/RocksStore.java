package stoa.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import stoa.bench.storage.Contender;

/// An open RocksDB.
///
/// Thread-safe. A key is 24 bytes, big-endian: the object, the offset, and the number of the write.
final class RocksStore implements Contender.Store {
  /// Where large values are.
  enum Values {
    IN_TABLES,
    IN_BLOBS
  }

  private static final int KEY = 24;
  private static final long LONG_OBJECT = 1;
  private static final long SMALL_VALUES = 2;

  static {
    RocksDB.loadLibrary();
  }

  private final LRUCache cache = new LRUCache(64 << 20);
  private final Options options;
  private final WriteOptions synced = new WriteOptions().setSync(true);
  private final RocksDB db;
  private final AtomicLong sequence;
  private final ThreadLocal<ByteBuffer> keys =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(KEY));
  private final ThreadLocal<ByteBuffer> values =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(Extents.PIECE));

  RocksStore(Path folder, Values where) throws RocksDBException {
    options =
        new Options()
            .setCreateIfMissing(true)
            .setCompressionType(CompressionType.NO_COMPRESSION)
            .setWriteBufferSize(64 << 20)
            .setMaxWriteBufferNumber(4)
            .setMaxBackgroundJobs(2)
            .setAllowConcurrentMemtableWrite(true)
            .setEnablePipelinedWrite(true)
            .setRecycleLogFileNum(2)
            .setUseDirectIoForFlushAndCompaction(true)
            .setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(cache));
    if (where == Values.IN_BLOBS) {
      options.setEnableBlobFiles(true).setMinBlobSize(4 << 10).setEnableBlobGarbageCollection(true);
    }
    db = RocksDB.open(options, folder.toString());
    sequence = new AtomicLong(db.getLatestSequenceNumber());
  }

  @Override
  public void write(long offset, ByteBuffer data) throws RocksDBException {
    long number = sequence.incrementAndGet();
    if (offset % Extents.PIECE + data.remaining() <= Extents.PIECE) {
      db.put(synced, key(LONG_OBJECT, offset, number), data);
      return;
    }
    try (var batch = new WriteBatch()) {
      Extents.divide(offset, data, (at, piece) -> batch.put(key(LONG_OBJECT, at, number), piece));
      db.write(synced, batch);
    }
  }

  @Override
  public void read(long offset, ByteBuffer target) throws Exception {
    Extents.read(this::scan, offset, target);
  }

  private void scan(long from, long to, Extents.Visitor visitor) {
    ByteBuffer key = keys.get();
    ByteBuffer value = values.get();
    try (var end = new Slice(bytes(LONG_OBJECT, to));
        var reading = new ReadOptions().setIterateUpperBound(end).setVerifyChecksums(true);
        var extents = db.newIterator(reading)) {
      extents.seek(key(LONG_OBJECT, from, 0));
      for (; extents.isValid(); extents.next()) {
        extents.key(key.clear());
        int length = extents.value(value.clear());
        value.position(0).limit(length);
        if (!visitor.take(key.getLong(8), key.getLong(16), value)) return;
      }
    }
  }

  @Override
  public void put(long key, ByteBuffer value) throws RocksDBException {
    db.put(synced, key(SMALL_VALUES, key, 0), value);
  }

  @Override
  public void settle() throws RocksDBException {
    try (var waiting = new FlushOptions().setWaitForFlush(true)) {
      db.flush(waiting);
    }
  }

  @Override
  public void close() {
    db.close();
    synced.close();
    options.close();
    cache.close();
  }

  private ByteBuffer key(long object, long offset, long number) {
    return keys.get().clear().putLong(object).putLong(offset).putLong(number).flip();
  }

  private static byte[] bytes(long object, long offset) {
    return ByteBuffer.allocate(KEY).putLong(object).putLong(offset).array();
  }
}
