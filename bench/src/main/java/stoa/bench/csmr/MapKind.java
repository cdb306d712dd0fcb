package stoa.bench.csmr;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.View;

/// A kind of map that the benchmark of composed maps opens.
///
/// @param children the number of maps that it consists of; 0 for a plain one
/// @param local whether callers read it through local views, opened anew
record MapKind(int children, boolean local) {
  private static final String NAME = "map";

  /// An open map.
  interface Opened {
    void put(int key, byte[] value);

    byte @Nullable [] get(int key);
  }

  /// Returns all kinds: plain and composed, remote and local.
  static List<MapKind> all(List<Integer> children) {
    var kinds = new ArrayList<MapKind>();
    for (boolean local : new boolean[] {false, true}) {
      kinds.add(new MapKind(0, local));
      for (int count : children) kinds.add(new MapKind(count, local));
    }
    return kinds;
  }

  /// Returns its name.
  String text() {
    return "%s, %s".formatted(shape(), local ? "local view" : "remote view");
  }

  /// Returns its composition.
  String shape() {
    return children == 0 ? "plain" : "C%d".formatted(children);
  }

  /// Opens it.
  Opened open(Stoa stoa) {
    if (local) return buckets(stoa);
    return shared(shared(stoa, NAME, children));
  }

  /// Returns a shared map, plain or composed.
  static ConcurrentMap<Integer, byte[]> shared(Stoa stoa, String name, int children) {
    return children == 0
        ? stoa.map(name, Integer.class, byte[].class)
        : stoa.shardedMap(name, Integer.class, byte[].class, children);
  }

  private static Opened shared(ConcurrentMap<Integer, byte[]> map) {
    return new Opened() {
      @Override
      public void put(int key, byte[] value) {
        var _ = map.put(key, value);
      }

      @Override
      public byte @Nullable [] get(int key) {
        return map.get(key);
      }
    };
  }

  /// Returns one object for each child, since a local view shows one object.
  private Opened buckets(Stoa stoa) {
    int count = Math.max(1, children);
    return new Opened() {
      private Bucket bucket(int key) {
        return stoa.get(Bucket.class, Math.floorMod(key * 0x9e3779b9, count));
      }

      @Override
      public void put(int key, byte[] value) {
        bucket(key).put(key, value);
      }

      @Override
      public byte @Nullable [] get(int key) {
        return stoa.view(Bucket.class, stoa.ref(bucket(key)), new View.Local()).get(key);
      }
    };
  }
}
