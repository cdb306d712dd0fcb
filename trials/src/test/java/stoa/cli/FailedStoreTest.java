package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Blob;
import stoa.Stoa;
import stoa.StoaException;

/// A server in a process of its own whose operating system refuses to let a segment grow.
class FailedStoreTest {
  /// The largest file of the process, in KiB.
  private static final List<String> SMALL_FILES =
      List.of("bash", "-c", "ulimit -f 8192; exec \"$0\" \"$@\"");

  @Test
  void endsTheProcessWithAnExitCodeThatASupervisorSees(@TempDir Path directory) throws Exception {
    var site = new ServerProcess.Site("127.0.0.1", SMALL_FILES, List.of());
    try (var server = ServerProcess.start(site, directory, 0, List.of());
        var stoa = Stoa.open(server.url())) {
      Blob blob = stoa.get(Blob.class, "b");
      assertThrows(
          StoaException.class,
          () -> {
            for (int mib = 0; mib < 64; mib++) blob.write((long) mib << 20, new byte[1 << 20]);
          });
      assertEquals(1, server.await());
    }
  }
}
