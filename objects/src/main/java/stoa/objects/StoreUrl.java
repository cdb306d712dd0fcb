package stoa.objects;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import stoa.StoaConfig;
import stoa.log.Layout;
import stoa.log.Layout.Copies;
import stoa.storage.disk.Disk;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;

/// The parts of an embedded store's URL: `memory:` or `file:DIRECTORY`, and after a `?`, joined by
/// `&`, `shards=NUMBER` and `copies=full`.
///
/// @param url the whole URL
/// @param place the part between the scheme and the `?`
/// @param layout the number of shards, and the copies that their log units keep
record StoreUrl(String url, String place, Layout layout) {
  private static final int SHARDS_MAX = 64;

  // A file in the directory of a server that keeps its store together with others.
  private static final String MEMBER = "member.properties";

  private static final String SHARD = "shard-";

  /// @throws IllegalArgumentException when the URL is invalid
  static StoreUrl of(String url) {
    int question = url.indexOf('?');
    String place = url.substring(url.indexOf(':') + 1, question < 0 ? url.length() : question);
    int shards = 1;
    Copies copies = Copies.REFERENCE;
    String settings = question < 0 ? "" : url.substring(question + 1);
    for (String setting : settings.isEmpty() ? List.<String>of() : List.of(settings.split("&"))) {
      switch (setting) {
        case "copies=full" -> copies = Copies.FULL;
        case "copies=reference" -> copies = Copies.REFERENCE;
        default -> shards = shards(url, setting);
      }
    }
    if (copies == Copies.FULL && shards == 1) {
      throw new IllegalArgumentException(
          "\"" + url + "\": a full copy lies in another shard; use shards=2 or more");
    }
    return new StoreUrl(url, place, new Layout(shards, copies));
  }

  private static int shards(String url, String setting) {
    try {
      if (setting.startsWith("shards=")) {
        int shards = Integer.parseInt(setting.substring("shards=".length()));
        if (shards >= 1 && shards <= SHARDS_MAX) return shards;
      }
    } catch (NumberFormatException e) {
      // The next line reports it.
    }
    throw new IllegalArgumentException(
        "\"%s\": \"%s\" is no setting; use shards=1 to shards=%d, and copies=full"
            .formatted(url, setting, SHARDS_MAX));
  }

  /// Returns a disk for each shard, in memory.
  List<Disk> memory(long bytesMax) {
    if (!place.isEmpty()) {
      throw new IllegalArgumentException(
          "\"" + url + "\" names a memory store, which has no name; use memory:");
    }
    var disks = new ArrayList<Disk>();
    for (int i = 0; i < layout.shards(); i++) {
      disks.add(new MemoryDisk(bytesMax / layout.shards()));
    }
    return disks;
  }

  /// Returns a disk for each shard: the directory, or directories `shard-0`, `shard-1` and so on in
  /// it.
  List<Disk> files() {
    Path directory = directory();
    if (Files.exists(directory.resolve(MEMBER))) {
      throw new IllegalArgumentException(
          "\"%s\" holds the part of one of several servers that keep a store; start it with ./stoa serve --data, and open stoa://HOST:PORT"
              .formatted(url));
    }
    boolean several = Files.isDirectory(directory.resolve(SHARD + 0));
    if (layout.shards() == 1) {
      if (several) {
        throw new IllegalArgumentException(
            "\"%s\" holds a store of %d shards; open it with ?shards=%2$d"
                .formatted(url, shardsThere(directory)));
      }
      return List.of(new FileDisk(directory));
    }
    String[] names = directory.toFile().list();
    if (!several && names != null && names.length > 0 && !isShard(names)) {
      throw new IllegalArgumentException(
          "\"%s\" holds something else than a store of %d shards, such as %s; open it without shards=, or choose another directory"
              .formatted(url, layout.shards(), names[0]));
    }
    var disks = new ArrayList<Disk>();
    for (int i = 0; i < layout.shards(); i++) disks.add(new FileDisk(directory.resolve(SHARD + i)));
    return disks;
  }

  private static int shardsThere(Path directory) {
    int shards = 0;
    for (int i = 0; i < SHARDS_MAX; i++) {
      if (Files.isDirectory(directory.resolve(SHARD + i))) shards = i + 1;
    }
    return shards;
  }

  /// Returns the directories of shards that opening the store will create.
  List<Path> missing() {
    if (layout.shards() == 1 || !url.startsWith("file:")) return List.of();
    return IntStream.range(0, layout.shards())
        .mapToObj(i -> directory().resolve(SHARD + i))
        .filter(Files::notExists)
        .toList();
  }

  /// Removes the created directories of shards when the store could not be opened.
  static void remove(List<Path> shards) {
    for (Path shard : shards) {
      try {
        FileDisk.remove(shard);
      } catch (IOException kept) {
        // A shard directory contains no user's files; a store with as many shards uses it.
      }
    }
  }

  private static boolean isShard(String[] names) {
    for (String name : names) {
      if (name.startsWith(SHARD)) return true;
    }
    return false;
  }

  private Path directory() {
    String path = place.startsWith("//") ? place.substring(2) : place;
    if (path.isEmpty()) {
      throw new IllegalArgumentException(
          "\"" + url + "\" names no directory; use file:DIRECTORY, for example file:./data");
    }
    try {
      return Path.of(path);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("\"" + url + "\": " + e.getMessage(), e);
    }
  }

  /// Returns the disks that the URL names.
  List<Disk> disks(StoaConfig config) {
    return config.scheme().equals("memory") ? memory(config.limits().memoryBytesMax()) : files();
  }
}
