package stoa.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;
import org.h2.mvstore.type.LongDataType;
import stoa.bench.storage.Contender;
import stoa.bench.storage.Group;

/// H2's MVStore: concurrent writes share a commit and a sync.
public final class MvStoreContender implements Contender {
  private static final int CACHE_MIB = 64;

  /// The contender.
  public MvStoreContender() {}

  @Override
  public String name() {
    return "MVStore";
  }

  @Override
  public String how() {
    return "extents of at most 64 KiB as values, shared commit and sync";
  }

  @Override
  public Store open(Path folder) {
    return new Opened(folder);
  }

  private static final class Opened implements Store {
    /*
     * The key of an extent is its offset, and in the lowest bits the number of the write: extents of
     * one offset and different lengths stand beside each other.
     */
    private static final int NUMBER_BITS = 28;

    private final MVStore store;
    private final MVMap<Long, byte[]> extents;
    private final MVMap<Long, byte[]> values;
    private final Group<Integer> commits = new Group<>(Integer.MAX_VALUE, _ -> commit());
    private final AtomicLong sequence;

    Opened(Path folder) {
      store =
          new MVStore.Builder()
              .fileName(folder.resolve("store").toString())
              .autoCommitDisabled()
              .cacheSize(CACHE_MIB)
              .open();
      extents = store.openMap("extents", types());
      values = store.openMap("values", types());
      sequence = new AtomicLong(extents.sizeAsLong());
    }

    private static MVMap.Builder<Long, byte[]> types() {
      return new MVMap.Builder<Long, byte[]>()
          .keyType(LongDataType.INSTANCE)
          .valueType(ByteArrayDataType.INSTANCE);
    }

    private void commit() {
      store.commit();
      store.sync();
    }

    @Override
    public void write(long offset, ByteBuffer data) throws Exception {
      long number = sequence.incrementAndGet();
      Extents.divide(
          offset,
          data,
          (at, piece) -> {
            var value = new byte[piece.remaining()];
            piece.get(value);
            extents.put(at << NUMBER_BITS | number, value);
          });
      commits.join(0);
    }

    @Override
    public void read(long offset, ByteBuffer target) throws Exception {
      Extents.read(this::scan, offset, target);
    }

    private void scan(long from, long to, Extents.Visitor visitor) {
      var cursor = extents.cursor(from << NUMBER_BITS, (to << NUMBER_BITS) - 1, false);
      while (cursor.hasNext()) {
        long key = cursor.next();
        var value = ByteBuffer.wrap(cursor.getValue());
        if (!visitor.take(key >>> NUMBER_BITS, key & ((1L << NUMBER_BITS) - 1), value)) return;
      }
    }

    @Override
    public void put(long key, ByteBuffer value) throws Exception {
      var bytes = new byte[value.remaining()];
      value.get(bytes);
      values.put(key, bytes);
      commits.join(0);
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
