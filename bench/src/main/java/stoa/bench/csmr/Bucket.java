package stoa.bench.csmr;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Shared;

/// A map in the plainest way: one shared object around a hash map, as the paper's SMR map.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.csmr.Bucket")
public class Bucket {
  private final Map<Integer, byte[]> values = new HashMap<>();

  protected Bucket() {}

  /// Sets the value of a key.
  public void put(int key, byte[] value) {
    values.put(key, value);
  }

  /// Returns the value of a key, or null.
  @Accessor
  public byte @Nullable [] get(int key) {
    return values.get(key);
  }

  /// Returns the number of keys.
  @Accessor
  public int size() {
    return values.size();
  }
}
