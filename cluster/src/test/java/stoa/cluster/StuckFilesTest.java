package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Blob;
import stoa.Stoa;
import stoa.cluster.RunningServers.Counter;
import stoa.raft.Acknowledged;

/// Files that no server can open for a while, as when a disk is busy with something else.
class StuckFilesTest {
  private static final String FILE = "acknowledged";

  @TempDir private Path directory;

  @Test
  void callsGoOnWhileNoServerCanWriteWhatTheMembersHave() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = RunningServers.open(servers.first())) {
        Counter counter = stoa.get(Counter.class, "counted");
        long made = 0;
        while (files().size() < 3) assertEquals(++made, counter.increment());
        List<Path> pipes = files();
        for (Path pipe : pipes) {
          Files.delete(pipe);
          assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        }
        try {
          // A writer opens a pipe when a reader has.
          while (waiting() < 3) assertEquals(++made, counter.increment());
          assertEquals(made, counter.value());
          Blob blob = stoa.get(Blob.class, "written"); // by threads that may wait
          for (int i = 1; i <= 20; i++) assertEquals(i, blob.write(0, new byte[i]));
          assertEquals(20, blob.size());
        } finally {
          for (Path pipe : pipes) {
            Thread.ofPlatform().daemon().start(() -> read(pipe));
          }
        }
      }
    }
  }

  private List<Path> files() throws IOException {
    var found = new ArrayList<Path>();
    for (String name : List.of("a", "b", "c")) {
      try (var groups = Files.newDirectoryStream(directory.resolve(name).resolve("log"))) {
        for (Path group : groups) {
          Path file = group.resolve(FILE);
          if (Files.exists(file)) found.add(file);
        }
      }
    }
    return found;
  }

  /// Returns how many threads wait for such a file.
  private static long waiting() {
    return Thread.getAllStackTraces().values().stream()
        .filter(stack ->
            Arrays.stream(stack)
                .anyMatch(frame -> frame.getClassName().equals(Acknowledged.class.getName())))
        .count();
  }

  private static void read(Path pipe) {
    while (true) {
      try (InputStream from = Files.newInputStream(pipe)) {
        var _ = from.readAllBytes();
      } catch (IOException gone) {
        return; // with its directory
      }
    }
  }
}
