package stoa.bench.maps;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An open map of a [MapContender]. Thread-safe, except for [#close()].
public interface OpenMap extends AutoCloseable {
  /// Returns the value of a key, null when there is none.
  byte @Nullable [] get(String key);

  /// Returns the values of those keys that have one, in any order.
  default List<byte[]> getAll(List<String> keys) throws Exception {
    var found = new ArrayList<byte[]>();
    for (String key : keys) {
      byte[] value = get(key);
      if (value != null) found.add(value);
    }
    return found;
  }

  /// Sets the value of a key. It is on the disk, forced, on return.
  void put(String key, byte[] value) throws Exception;

  @Override
  void close() throws IOException;
}
