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

/// What [OwnDisk]s and [PartedNetwork]s of processes that were killed have left in the operating
/// system. Their names say whose they are.
final class Leftovers {
  private static final Pattern DISKS = Pattern.compile(OwnDisk.PREFIX + "(\\d+)-.*");
  private static final Pattern SPACES = Pattern.compile(PartedNetwork.SPACE + "(\\d+)n\\d+");
  private static final Pattern LINKS =
      Pattern.compile(
          "(?:" + PartedNetwork.BRIDGE + "(\\d+)|" + PartedNetwork.OUTSIDE + "(\\d+)n\\d+)");

  private Leftovers() {}

  /// Takes away what it can. What cannot be taken away, as a disk that a server still uses, is
  /// left: nobody else uses its name.
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

  /// What is in a directory, by a name that has the number of a process which is not there.
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
