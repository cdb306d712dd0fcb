package stoa.cluster;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.Unavailable;
import stoa.base.Permissions;

/// A server's note about itself in its directory, by which it continues as the same server after a
/// restart. Immutable.
///
/// @param name its name
/// @param host where the others reach it
/// @param port its port
/// @param supplyPort where the others get what they lack
/// @param storeProperties of the store; null while it is unknown which store it keeps
/// @param hosts the numbers of the groups that it hosts
record Membership(
    String name,
    String host,
    int port,
    int supplyPort,
    @Nullable StoreProperties storeProperties,
    NavigableMap<Integer, Start> hosts) {
  private static final String FILE = "member.properties";

  // The checksum of all others. Servers of an earlier release wrote none.
  private static final String CHECKSUM = "checksum";

  /// How a group began here.
  enum Start {
    /// The group began with this server.
    BEGUN,
    /// This server was added to an existing group.
    ADDED,
    /// The group continues with this server as its only remaining one; the list of servers does not
    /// say so yet.
    LEFT
  }

  Membership {
    hosts = Collections.unmodifiableNavigableMap(new TreeMap<>(hosts));
  }

  /// Returns this note with a store.
  Membership withSettings(StoreProperties value) {
    return new Membership(name, host, port, supplyPort, value, hosts);
  }

  /// Returns this note without a store.
  Membership without() {
    return new Membership(name, host, port, supplyPort, null, new TreeMap<>());
  }

  /// Returns this note with one more group.
  Membership hosting(int group, Start start) {
    var more = new TreeMap<>(hosts);
    more.put(group, start);
    return new Membership(name, host, port, supplyPort, storeProperties, more);
  }

  /// Returns this note of an only remaining server: at other ports, so that no lost server finds
  /// it.
  Membership left() {
    var all = new TreeMap<Integer, Start>();
    for (int group : hosts.keySet()) all.put(group, Start.LEFT);
    return new Membership(name, host, 0, 0, storeProperties, all);
  }

  /// Returns this note with other ports.
  Membership at(int newPort, int newSupplyPort) {
    return new Membership(name, host, newPort, newSupplyPort, storeProperties, hosts);
  }

  /// Returns this note with one group less.
  Membership releasing(int group) {
    var fewer = new TreeMap<>(hosts);
    fewer.remove(group);
    return new Membership(name, host, port, supplyPort, storeProperties, fewer);
  }

  /// Returns the note in a directory; null in one that never belonged to one of several servers.
  ///
  /// @throws Corrupt when it cannot be understood
  /// @throws UnsupportedOperationException when it is of a store of an earlier kind
  static @Nullable Membership read(Path directory) {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) return null;
    var properties = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
      String checksum = properties.getProperty(CHECKSUM);
      if (checksum != null && !checksum.equals(checksum(properties))) {
        throw new IllegalArgumentException("it is not what was written");
      }
      return new Membership(
          value(properties, "name"),
          value(properties, "host"),
          Integer.parseInt(value(properties, "port")),
          Integer.parseInt(value(properties, "port.supply")),
          storeProperties(properties),
          hosts(value(properties, "hosts")));
    } catch (CharacterCodingException damaged) {
      throw corrupt(file, "it is no text", damaged);
    } catch (IOException | IllegalArgumentException damaged) {
      throw corrupt(file, damaged.getMessage(), damaged);
    }
  }

  private static Corrupt corrupt(Path file, @Nullable String why, Exception cause) {
    return new Corrupt(
        file
            + " cannot be read: "
            + why
            + "; take this server out with ./stoa drain at one of the others, and have a new one"
            + " join on an empty directory",
        cause);
  }

  private static String checksum(Properties properties) {
    var text = new StringBuilder();
    for (String key : new TreeSet<>(properties.stringPropertyNames())) {
      if (key.equals(CHECKSUM)) continue;
      text.append(key).append('=').append(properties.getProperty(key)).append('\n');
    }
    var crc = new CRC32C();
    crc.update(text.toString().getBytes(StandardCharsets.UTF_8));
    return Long.toHexString(crc.getValue());
  }

  private static String value(Properties properties, String key) {
    String value = properties.getProperty(key);
    if (value == null) throw new IllegalArgumentException("it has no " + key);
    return value;
  }

  private static @Nullable StoreProperties storeProperties(Properties properties) {
    String store = value(properties, "store");
    if (store.isEmpty()) return null;
    int groups = Integer.parseInt(value(properties, "groups"));
    if (groups > 1 && "false".equals(properties.getProperty("spread"))) {
      throw new UnsupportedOperationException(
          "a store of "
              + groups
              + " groups that was begun by an earlier version without --spread has its ordered"
              + " objects in group 0, where this version does not look for them; copy them with"
              + " that version into a new store");
    }
    return new StoreProperties(
        Long.parseUnsignedLong(store, 16), groups, Integer.parseInt(value(properties, "replicas")));
  }

  private static NavigableMap<Integer, Start> hosts(String text) {
    var hosts = new TreeMap<Integer, Start>();
    if (text.isEmpty()) return hosts;
    for (String host : text.split(" ", -1)) {
      int colon = host.indexOf(':');
      if (colon < 0) throw new IllegalArgumentException(host + " is no group that it hosts");
      hosts.put(
          Integer.parseInt(host.substring(0, colon)), Start.valueOf(host.substring(colon + 1)));
    }
    return hosts;
  }

  /// Refuses a directory that has anything but the secret of the servers.
  ///
  /// @throws IllegalArgumentException when it has
  static void requireEmpty(Path directory) {
    if (!Files.exists(directory)) return;
    try (var files = Files.list(directory)) {
      if (files.allMatch(file -> String.valueOf(file.getFileName()).startsWith(SecretFile.NAME)))
        return;
    } catch (IOException failed) {
      throw new Unavailable(directory + " cannot be read: " + failed.getMessage(), failed);
    }
    throw new IllegalArgumentException(
        directory
            + " is not empty, and not of a server that keeps its store with others; give a new"
            + " directory. A store that one server keeps becomes that of several when its own"
            + " server is started with --replicated");
  }

  private static void sync(Path path, StandardOpenOption mode) throws IOException {
    try (var channel = FileChannel.open(path, mode)) {
      channel.force(true);
    }
  }

  /// Writes the note; durable on return.
  void write(Path directory) {
    var properties = new Properties();
    properties.setProperty("name", name);
    properties.setProperty("host", host);
    properties.setProperty("port", Integer.toString(port));
    properties.setProperty("port.supply", Integer.toString(supplyPort));
    StoreProperties known = storeProperties;
    properties.setProperty("store", known == null ? "" : Long.toHexString(known.store()));
    if (known != null) {
      properties.setProperty("groups", Integer.toString(known.groups()));
      properties.setProperty("replicas", Integer.toString(known.replicas()));
    }
    properties.setProperty(
        "hosts",
        hosts.entrySet().stream()
            .map(host -> host.getKey() + ":" + host.getValue())
            .collect(Collectors.joining(" ")));
    properties.setProperty(CHECKSUM, checksum(properties));
    Path file = directory.resolve(FILE);
    Path next = directory.resolve(FILE + ".next");
    try {
      Permissions.createDirectories(directory);
      if (!Files.exists(next)) Files.createFile(next, Permissions.ofFilesIn(directory));
      try (var writer = Files.newBufferedWriter(next)) {
        properties.store(writer, "which server of a store this is; not to be changed");
      }
      sync(next, StandardOpenOption.WRITE);
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      sync(directory, StandardOpenOption.READ);
      // Its own name may be as new as the file.
      Path parent = directory.toAbsolutePath().getParent();
      if (parent != null) sync(parent, StandardOpenOption.READ);
    } catch (IOException failed) {
      throw new Unavailable(file + " cannot be written: " + failed.getMessage(), failed);
    }
  }
}
