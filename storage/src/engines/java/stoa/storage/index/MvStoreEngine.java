package stoa.storage.index;

import java.nio.file.Path;
import java.util.Arrays;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;

/// The map of H2, which writes what changed in the background.
final class MvStoreEngine implements IndexEngine {
  private final MVStore store;
  private final MVMap<byte[], byte[]> map;
  private final byte[] value = new byte[KeyValue.VALUE_MAX];

  MvStoreEngine(Path directory, int tableBytes, int cacheBytes) {
    store =
        new MVStore.Builder()
            .fileName(directory.resolve("index").toString())
            .cacheSize(cacheBytes >> 20)
            .autoCommitBufferSize(tableBytes >> 10)
            .open();
    map =
        store.openMap(
            "index",
            new MVMap.Builder<byte[], byte[]>()
                .keyType(ByteArrayDataType.INSTANCE)
                .valueType(ByteArrayDataType.INSTANCE));
  }

  @Override
  public void put(long high, long low, int space, IndexEntry entry) {
    int length = KeyValue.put(value, space, entry);
    map.put(KeyValue.key(high, low, space, entry.offset), Arrays.copyOf(value, length));
  }

  @Override
  public void remove(long high, long low, int space, long offset) {
    map.remove(KeyValue.key(high, low, space, offset));
  }

  @Override
  public void show() {
    // Each put is visible by itself; the store writes in the background.
  }

  @Override
  public boolean floor(long high, long low, int space, long offset, IndexEntry found) {
    var cursor = map.cursor(KeyValue.key(high, low, space, offset), null, true);
    if (!cursor.hasNext()) return false;
    var key = cursor.next();
    if (!KeyValue.isOf(key, high, low, space)) return false;
    KeyValue.get(cursor.getValue(), space, KeyValue.offset(key), found);
    return true;
  }

  @Override
  public void scan(long high, long low, int space, long from, Visitor visitor) {
    var entry = new IndexEntry();
    var cursor = map.cursor(KeyValue.key(high, low, space, from));
    while (cursor.hasNext()) {
      var key = cursor.next();
      if (!KeyValue.isOf(key, high, low, space)) return;
      KeyValue.get(cursor.getValue(), space, KeyValue.offset(key), entry);
      if (!visitor.visit(entry)) return;
    }
  }

  @Override
  public void settle() {
    store.commit();
  }

  @Override
  public long onDisk(long entries) {
    return entries;
  }

  @Override
  public void close() {
    store.close();
  }
}
