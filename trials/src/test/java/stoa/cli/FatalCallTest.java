package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Diverged;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;

/// An object whose method ends the process of its server, as a crash of the JVM does.
class FatalCallTest {
  private static final int HALTED = 9;

  @Shared(name = "test.Fuse")
  static class Fuse {
    private int lit;

    public int light() {
      return ++lit;
    }

    @Accessor
    public int lit() {
      return lit;
    }

    /// Halts the process by reflection, which the check of shared classes does not see.
    public int burn() throws ReflectiveOperationException {
      Class<?> runtime = Class.forName("java.lang.Runtime");
      Object here = runtime.getMethod("getRuntime").invoke(null);
      runtime.getMethod("halt", int.class).invoke(here, HALTED);
      return lit;
    }
  }

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  @Test
  void endsItsServerTwiceAndThenItsObjectIsQuarantinedAndTheRestIsServed(@TempDir Path directory)
      throws Exception {
    ServerProcess server = ServerProcess.start(directory);
    // The server is started twice meanwhile.
    var limits = Limits.standard().withCallTimeMax(Duration.ofMinutes(2));
    try (var stoa = Stoa.open(StoaConfig.of(server.url()).withLimits(limits))) {
      Fuse fuse = stoa.get(Fuse.class, "a");
      Fuse other = stoa.get(Fuse.class, "b");
      assertEquals(1, fuse.light());
      assertEquals(1, other.light());
      CompletableFuture<Integer> burning =
          stoa.async(
              fuse,
              f -> {
                try {
                  return f.burn();
                } catch (ReflectiveOperationException impossible) {
                  throw new IllegalStateException(impossible);
                }
              });
      for (int times = 0; times < 2; times++) {
        assertEquals(HALTED, server.await());
        server = server.startAgain();
      }
      var failure = assertThrows(CompletionException.class, burning::join);
      var told = assertInstanceOf(Diverged.class, failure.getCause());
      String message = String.valueOf(told.getMessage());
      assertTrue(message.contains("test.Fuse[a] is quarantined"), message);
      // It is version 3 when the first call took long: the store logs a note for that.
      assertTrue(message.matches("(?s).*version [23] \\(burn\\(\\)\\).*"), message);
      assertEquals(2, other.light());
      assertThrows(Diverged.class, fuse::light);
      String status = stoa(0, "status", "--server", server.address());
      assertTrue(status.contains("test.Fuse[a]: the process ended twice"), status);
      stoa(0, "accept", "test.Fuse[a]", "--server", server.address());
      assertEquals(1, fuse.lit());
      assertEquals(2, fuse.light());
      assertTrue(server.stop());
    } finally {
      server.close();
    }
  }
}
