package stoa.bench.maps;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// An engine with a durable map in the process of its callers.
///
/// `ServiceLoader` finds those of other products. Implementations keep no state of their own; the
/// caller owns the stores that they open.
public interface MapContender {
  /// Returns its name in tables.
  String name();

  /// Returns how it makes a change durable, in a line.
  String how();

  /// Opens a map in an empty folder.
  Store open(Path folder) throws Exception;

  /// An open map. Thread-safe, except for [#close()].
  interface Store extends AutoCloseable {
    /// Returns the value of a key, null when there is none.
    byte @Nullable [] get(String key) throws Exception;

    /// Sets the value of a key. It is on the disk, forced, on return.
    void put(String key, byte[] value) throws Exception;

    @Override
    void close() throws IOException;
  }
}
