package stoa.bench.maps;

import java.nio.file.Path;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;

/// This engine: a `ShardedMap` of a store in the process.
final class StoaMaps implements MapContender {
  static final String NAME = "Stoa";

  private static final int CHILDREN = 256;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String how() {
    return "a ShardedMap of %d children; each change is a logged call, in batches that share a sync"
        .formatted(CHILDREN);
  }

  @Override
  public OpenMap open(Path folder) {
    Stoa stoa = Stoa.open("file:" + folder.resolve("store"));
    return new Opened(stoa, stoa.shardedMap("records", String.class, byte[].class, CHILDREN));
  }

  private record Opened(Stoa stoa, ConcurrentMap<String, byte[]> map) implements OpenMap {
    @Override
    public byte @Nullable [] get(String key) {
      return map.get(key);
    }

    @Override
    public void put(String key, byte[] value) {
      var _ = map.put(key, value);
    }

    @Override
    public void close() {
      stoa.close();
    }
  }
}
