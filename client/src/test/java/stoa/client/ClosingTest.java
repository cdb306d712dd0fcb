package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.LogOrder;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.View;
import stoa.storage.disk.MemoryDisk;

/// A client's process prints nothing when it closes its store.
class ClosingTest {
  private static final int CLOSES = 20;
  private static final int SERVERS = 3;
  private static final int CALLS = 200;

  @Shared(name = "closing.Cell", order = LogOrder.STREAM)
  static class Cell {
    private long value;

    public long add() {
      return ++value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  /// The client's process: opens the store, has calls under way, closes it, and again.
  static final class Client {
    private Client() {}

    public static void main(String[] args) throws IOException {
      var told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (int i = 0; i < CLOSES; i++) {
        Stoa stoa = Stoa.open(args[0]);
        for (int call = 0; call < CALLS; call++) {
          Cell cell = stoa.get(Cell.class, call % 30);
          var _ = stoa.async(cell, Cell::add);
        }
        var cached = stoa.view(Cell.class, new stoa.Ref<>("closing.Cell", 1), new View.Cached());
        if (i == 0) cached.value();
        if (i == CLOSES - 1) {
          System.out.println("last");
          told.readLine(); // a server is gone now
          for (int call = 0; call < CALLS; call++) {
            Cell cell = stoa.get(Cell.class, call % 30);
            var _ = stoa.async(cell, Cell::add);
          }
        }
        stoa.close();
      }
      System.out.println("done");
    }
  }

  @Test
  void printsNothingWhileCallsAreUnderWayAlsoWhenAServerIsGone(@TempDir Path directory)
      throws Exception {
    var disks = IntStream.range(0, SERVERS).mapToObj(_ -> new MemoryDisk(64 << 20)).toList();
    Path errors = directory.resolve("errors");
    try (var groups = new Groups(StoaConfig.of("memory:"), disks, SERVERS)) {
      for (int group = 1; group < SERVERS; group++) {
        groups.follow(group, 0);
        groups.lead(group, group);
      }
      var process =
          new ProcessBuilder(
                  List.of(
                      System.getProperty("java.home") + "/bin/java",
                      "--sun-misc-unsafe-memory-access=allow",
                      "--enable-native-access=ALL-UNNAMED",
                      "-cp",
                      System.getProperty("java.class.path"),
                      Client.class.getName(),
                      groups.url()))
              .redirectError(errors.toFile())
              .start();
      try {
        var out =
            new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        assertEquals("last", out.readLine(), () -> text(errors));
        groups.stop(SERVERS - 1);
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        assertEquals("done", out.readLine(), () -> text(errors));
        assertEquals(null, out.readLine());
        process.waitFor(1, TimeUnit.MINUTES);
        assertEquals(0, process.exitValue());
      } finally {
        process.destroyForcibly();
      }
    }
    assertEquals("", text(errors));
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
