package stoa.trials;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import stoa.programs.Directories;

/// The remains of [OwnDisk]s and [PartedNetwork]s of killed processes in the operating system.
/// Their names have the numbers of these processes.
final class Leftovers {
  private static final Pattern DISKS = Pattern.compile(OwnDisk.PREFIX + "(\\d+)-.*");
  private static final Pattern SPACES = Pattern.compile(PartedNetwork.SPACE + "(\\d+)n\\d+");
  private static final Pattern LINKS =
      Pattern.compile(
          "(?:" + PartedNetwork.BRIDGE + "(\\d+)|" + PartedNetwork.OUTSIDE + "(\\d+)n\\d+)");

  private Leftovers() {}

  /// Removes the remains as far as possible. It leaves the rest, such as a disk that a server still
  /// uses: no other process uses its name.
  static void clear() throws IOException, InterruptedException {
    for (Path directory : of(Path.of(System.getProperty("java.io.tmpdir")), DISKS)) {
      for (Path mount : mountsIn(directory)) attempt("umount", mount.toString());
      if (mountsIn(directory).isEmpty()) Directories.delete(directory);
    }
    for (Path group : of(OwnDisk.GROUPS, DISKS)) attempt("rmdir", group.toString());
    for (Path space : of(PartedNetwork.SPACES, SPACES))
      attempt("ip", "netns", "delete", name(space));
    for (Path link : of(PartedNetwork.LINKS, LINKS)) attempt("ip", "link", "delete", name(link));
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  private static void attempt(String... command) throws IOException, InterruptedException {
    try {
      Root.run(command);
    } catch (IllegalStateException _) {
      // It is in use, or went with another one.
    }
  }

  /// Returns the entries of a directory whose names have the number of a process that no longer
  /// exists.
  private static List<Path> of(Path directory, Pattern names) throws IOException {
    var found = new ArrayList<Path>();
    if (!Files.isDirectory(directory)) return found;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
      for (Path path : all) {
        Matcher name = names.matcher(name(path));
        if (name.matches() && isGone(name)) found.add(path);
      }
    }
    return found;
  }

  private static boolean isGone(Matcher name) {
    String process = name.group(1);
    if (process == null) process = name.group(2);
    return ProcessHandle.of(Long.parseLong(process)).isEmpty();
  }

  private static List<Path> mountsIn(Path directory) throws IOException {
    return Files.readAllLines(Path.of("/proc/mounts")).stream()
        .map(line -> Path.of(line.split(" ", 3)[1]))
        .filter(mount -> mount.startsWith(directory))
        .toList();
  }
}
