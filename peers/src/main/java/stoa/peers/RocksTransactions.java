package stoa.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.rocksdb.OptimisticTransactionDB;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WriteOptions;
import stoa.bench.tx.TransactionContender;

/// RocksDB's optimistic transactions, with a synced write-ahead log and its group commit.
public final class RocksTransactions implements TransactionContender {
  static {
    RocksDB.loadLibrary();
  }

  /// The contender.
  public RocksTransactions() {}

  @Override
  public String name() {
    return "RocksDB";
  }

  @Override
  public String how() {
    return "optimistic transactions, synced write-ahead log with its group commit";
  }

  @Override
  public Store open(Path folder, int objects) throws RocksDBException {
    return new Opened(folder, objects);
  }

  private static final class Opened implements Store {
    private final int objects;
    private final Options options = new Options().setCreateIfMissing(true).setRecycleLogFileNum(2);
    private final WriteOptions synced = new WriteOptions().setSync(true);
    private final ReadOptions reading = new ReadOptions();
    private final OptimisticTransactionDB db;

    Opened(Path folder, int objects) throws RocksDBException {
      this.objects = objects;
      db = OptimisticTransactionDB.open(options, folder.toString());
      for (int i = 0; i < objects; i++) db.put(key(i), value(0));
    }

    private static byte[] key(int object) {
      return ByteBuffer.allocate(Integer.BYTES).putInt(object).array();
    }

    private static byte[] value(long number) {
      return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    private static long number(byte[] value) {
      return ByteBuffer.wrap(value).getLong();
    }

    @Override
    public void addOne(int[] of) throws RocksDBException {
      while (!tryAddOne(of)) Thread.onSpinWait();
    }

    private boolean tryAddOne(int[] of) throws RocksDBException {
      try (var transaction = db.beginTransaction(synced)) {
        for (int object : of) {
          byte[] before = transaction.getForUpdate(reading, key(object), true);
          transaction.put(key(object), value(number(before) + 1));
        }
        transaction.commit();
        return true;
      } catch (RocksDBException lost) {
        Status status = lost.getStatus();
        if (status != null
            && (status.getCode() == Status.Code.Busy || status.getCode() == Status.Code.TryAgain)) {
          return false;
        }
        throw lost;
      }
    }

    @Override
    public long sum() throws RocksDBException {
      long sum = 0;
      for (int i = 0; i < objects; i++) sum += number(db.get(key(i)));
      return sum;
    }

    @Override
    public void close() {
      db.close();
      reading.close();
      synced.close();
      options.close();
    }
  }
}
