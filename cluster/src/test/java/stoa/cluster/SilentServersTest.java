package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Shared;
import stoa.Stoa;

/// Servers that serve nobody, and servers with names that none can have.
class SilentServersTest {
  /// As many as a server has threads for users' code.
  private static final int THREADS = 32;

  private static final Semaphore HANGING = new Semaphore(0);
  private static final CountDownLatch FREE = new CountDownLatch(1);

  /// Some of its constructors wait where nothing can stop them.
  @Shared(name = "cluster.Hanging")
  static class Hanging {
    private long value;

    Hanging() {
      boolean hangs = HANGING.tryAcquire();
      while (hangs) {
        try {
          FREE.await();
          hangs = false;
        } catch (InterruptedException again) {
          // Nothing can stop it.
        }
      }
    }

    long increment() {
      return ++value;
    }
  }

  @TempDir
  @SuppressWarnings("NullAway.Init") // Justification: JUnit sets it
  private Path directory;

  @Test
  void aLeaderThatServesNobodyLeavesItsGroupToAnother() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.within(Duration.ofSeconds(1));
      servers.start("a", "b", "c");
      int stuck = RunningServers.leader(servers.last(), 0);
      HANGING.release(THREADS);
      // A session has half of the threads.
      try (Stoa one = servers.open();
          Stoa other = servers.open();
          Stoa good = servers.open();
          var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < THREADS; i++) {
          Hanging hanging = (i % 2 == 0 ? one : other).get(Hanging.class, "hangs " + i);
          var _ = callers.submit(hanging::increment);
        }
        while (HANGING.availablePermits() > 0) servers.awaitNext();
        while (RunningServers.leader(servers.otherThan(stuck), 0) == stuck) servers.awaitNext();
        assertEquals(1, good.get(Hanging.class, "good").increment());
        assertNotEquals(stuck, RunningServers.leader(servers.otherThan(stuck), 0));
        FREE.countDown();
        Throwable failure = servers.withPort(stuck).awaitClosed();
        assertTrue(
            String.valueOf(Objects.requireNonNull(failure).getMessage()).contains("served no"));
      } finally {
        FREE.countDown();
      }
    }
  }

  @Test
  void aServerWithANameThatLeadsElsewhereIsRefusedBeforeAnythingIsThere() throws Exception {
    try (var servers = new RunningServers(directory.resolve("all"), 1, 3)) {
      for (String name : new String[] {"a/b", "../../x", "a b"}) {
        Path own = directory.resolve("own");
        var refused = assertThrows(IllegalArgumentException.class, () -> servers.begin(own, name));
        assertTrue(String.valueOf(refused.getMessage()).contains("a-z"), refused::toString);
        assertFalse(Files.exists(own));
      }
    }
  }
}
