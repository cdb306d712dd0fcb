package stoa.peers;

import java.nio.file.Path;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;
import org.h2.mvstore.type.StringDataType;
import org.jspecify.annotations.Nullable;
import stoa.bench.maps.MapContender;
import stoa.bench.maps.OpenMap;
import stoa.bench.storage.Group;

/// A map of H2's MVStore: changes that end together share a commit and a sync of the store.
public final class MvStoreMaps implements MapContender {
  private static final int CACHE_MIB = 512;

  /// The contender.
  public MvStoreMaps() {}

  @Override
  public String name() {
    return "MVStore";
  }

  @Override
  public String how() {
    return "shared commit and sync of the store; a cache larger than the data";
  }

  @Override
  public OpenMap open(Path folder) {
    return new Opened(folder);
  }

  private static final class Opened implements OpenMap {
    private final MVStore store;
    private final MVMap<String, byte[]> map;
    private final Group<Integer> commits = new Group<>(Integer.MAX_VALUE, _ -> commit());

    Opened(Path folder) {
      store =
          new MVStore.Builder()
              .fileName(folder.resolve("store").toString())
              .autoCommitDisabled()
              .cacheSize(CACHE_MIB)
              .open();
      map =
          store.openMap(
              "records",
              new MVMap.Builder<String, byte[]>()
                  .keyType(StringDataType.INSTANCE)
                  .valueType(ByteArrayDataType.INSTANCE));
    }

    private void commit() {
      store.commit();
      store.sync();
    }

    @Override
    public byte @Nullable [] get(String key) {
      return map.get(key);
    }

    @Override
    public void put(String key, byte[] value) throws Exception {
      var _ = map.put(key, value);
      commits.join(0);
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
