package stoa.storage.index;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.SeekOp;
import org.lmdbjava.Txn;

/// LMDB without syncs. Its cache is the operating system's, without a bound.
final class LmdbEngine implements IndexEngine {
  private final Env<ByteBuffer> env;
  private final Dbi<ByteBuffer> db;
  private final ByteBuffer key = ByteBuffer.allocateDirect(KeyValue.KEY);
  private final ByteBuffer value = ByteBuffer.allocateDirect(KeyValue.VALUE_MAX);
  private final byte[] valueBytes = new byte[KeyValue.VALUE_MAX];
  private final byte[] keyBytes = new byte[KeyValue.KEY];
  private @Nullable Txn<ByteBuffer> writing;

  LmdbEngine(Path directory) {
    env =
        Env.create()
            .setMapSize(8L << 30)
            .setMaxDbs(1)
            .open(directory.toFile(), EnvFlags.MDB_WRITEMAP, EnvFlags.MDB_NOSYNC);
    db = env.openDbi("index", DbiFlags.MDB_CREATE);
  }

  private Txn<ByteBuffer> writing() {
    var transaction = writing;
    if (transaction == null) {
      transaction = env.txnWrite();
      writing = transaction;
    }
    return transaction;
  }

  private ByteBuffer key(long high, long low, int space, long offset) {
    FenceKey.put(keyBytes, 0, high, low, space, offset);
    return key.clear().put(keyBytes).flip();
  }

  @Override
  public void put(long high, long low, int space, IndexEntry entry) {
    int length = KeyValue.put(valueBytes, space, entry);
    value.clear().put(valueBytes, 0, length).flip();
    db.put(writing(), key(high, low, space, entry.offset), value);
  }

  @Override
  public void remove(long high, long low, int space, long offset) {
    db.delete(writing(), key(high, low, space, offset));
  }

  @Override
  public void show() {
    var transaction = writing;
    if (transaction == null) return;
    transaction.commit();
    transaction.close();
    writing = null;
  }

  @Override
  public boolean floor(long high, long low, int space, long offset, IndexEntry found) {
    var own = writing == null ? env.txnRead() : null;
    try (var cursor = db.openCursor(own == null ? requireNonNull(writing) : own)) {
      boolean any = cursor.get(key(high, low, space, offset), GetOp.MDB_SET_RANGE);
      if (!any) any = cursor.seek(SeekOp.MDB_LAST);
      else if (!at(cursor, high, low, space) || keyOffset() > offset) {
        any = cursor.seek(SeekOp.MDB_PREV);
      }
      if (!any || !at(cursor, high, low, space)) return false;
      read(cursor, space, found);
      return true;
    } finally {
      if (own != null) own.close();
    }
  }

  private boolean at(Cursor<ByteBuffer> cursor, long high, long low, int space) {
    cursor.key().get(0, keyBytes);
    return KeyValue.isOf(keyBytes, high, low, space);
  }

  private long keyOffset() {
    return KeyValue.offset(keyBytes);
  }

  private void read(Cursor<ByteBuffer> cursor, int space, IndexEntry entry) {
    var bytes = cursor.val();
    bytes.get(0, valueBytes, 0, bytes.remaining());
    KeyValue.get(valueBytes, space, keyOffset(), entry);
  }

  @Override
  public void scan(long high, long low, int space, long from, Visitor visitor) {
    var entry = new IndexEntry();
    var own = writing == null ? env.txnRead() : null;
    try (var cursor = db.openCursor(own == null ? requireNonNull(writing) : own)) {
      boolean any = cursor.get(key(high, low, space, from), GetOp.MDB_SET_RANGE);
      while (any && at(cursor, high, low, space)) {
        read(cursor, space, entry);
        if (!visitor.visit(entry)) return;
        any = cursor.seek(SeekOp.MDB_NEXT);
      }
    } finally {
      if (own != null) own.close();
    }
  }

  @Override
  public void settle() {
    env.sync(true);
  }

  @Override
  public long onDisk(long entries) {
    return entries;
  }

  @Override
  public void close() {
    env.close();
  }
}
