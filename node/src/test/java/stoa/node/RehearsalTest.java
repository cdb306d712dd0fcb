package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// What a server does in memory before it leads for the first time.
class RehearsalTest {
  private static final Duration END_MAX = Duration.ofMinutes(1);

  // The names, once; eight repeated calls, once; in each of two takeovers the object is opened,
  // then come a hundred frames of eight calls, and at last seven requests of other kinds.
  private static final int REQUESTS = 2 + 8 + 2 * (1 + 100 * 8 + 7);

  private static Set<String> files() throws Exception {
    try (var files = Files.list(Path.of("").toAbsolutePath())) {
      return files.map(Path::toString).collect(Collectors.toSet());
    }
  }

  @Test
  void aRehearsalIsAnsweredInFullAndLeavesNoThreadAndNoFile() throws Exception {
    Set<String> files = files();
    var threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    assertEquals(REQUESTS, new Rehearsal(() -> true).run());
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (threads.contains(thread) || !thread.getName().startsWith("stoa-")) continue;
      assertTrue(thread.join(END_MAX), thread + " goes on");
    }
    assertEquals(files, files());
  }

  @Test
  void aRehearsalEndsWhenTheServerLeads() throws Exception {
    var looks = new AtomicInteger();
    // It looks before a takeover, and before each frame.
    assertEquals(2 + 1 + 8 + 7, new Rehearsal(() -> looks.incrementAndGet() <= 2).run());
    assertEquals(0, new Rehearsal(() -> false).run());
  }
}
