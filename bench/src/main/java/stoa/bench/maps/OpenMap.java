package stoa.bench.maps;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// An open map of a [MapContender]. Thread-safe, except for [#close()].
public interface OpenMap extends AutoCloseable {
  /// Returns the value of a key, null when there is none.
  byte @Nullable [] get(String key);

  /// Sets the value of a key. It is on the disk, forced, on return.
  void put(String key, byte[] value) throws Exception;

  @Override
  void close() throws IOException;
}
