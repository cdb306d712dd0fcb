package stoa.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.Unavailable;

/// What a server notes of itself in its directory, so that it goes on as the same one when it is
/// started again.
///
/// @param name what it is called
/// @param store the 16 bytes that name the store
/// @param peerHost where the others reach it
/// @param peerPort its port
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record Membership(String name, byte[] store, String peerHost, int peerPort) {
  private static final String FILE = "member.properties";

  /// What is noted in a directory; null in one that never belonged to a server of several.
  ///
  /// @throws Corrupt when it cannot be understood
  static @Nullable Membership read(Path directory) {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) return null;
    var properties = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
      return new Membership(
          value(properties, "name"),
          HexFormat.of().parseHex(value(properties, "store")),
          value(properties, "peer.host"),
          Integer.parseInt(value(properties, "peer.port")));
    } catch (IOException | IllegalArgumentException damaged) {
      throw new Corrupt(file + " cannot be read: " + damaged.getMessage(), damaged);
    }
  }

  private static String value(Properties properties, String key) {
    String value = properties.getProperty(key);
    if (value == null) throw new IllegalArgumentException("it has no " + key);
    return value;
  }

  /// Notes it, durably.
  void write(Path directory) {
    var properties = new Properties();
    properties.setProperty("name", name);
    properties.setProperty("store", HexFormat.of().formatHex(store));
    properties.setProperty("peer.host", peerHost);
    properties.setProperty("peer.port", Integer.toString(peerPort));
    Path file = directory.resolve(FILE);
    Path next = directory.resolve(FILE + ".next");
    try {
      Files.createDirectories(directory);
      try (var writer = Files.newBufferedWriter(next)) {
        properties.store(writer, "which server of a store this is; not to be changed");
      }
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw new Unavailable(file + " cannot be written: " + failed.getMessage(), failed);
    }
  }
}
