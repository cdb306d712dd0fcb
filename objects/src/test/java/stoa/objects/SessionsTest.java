package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.StoaConfig;

class SessionsTest {
  @Test
  void sessionsOutliveTheProcessUntilTheyEnd(@TempDir Path directory) {
    var config = StoaConfig.of("file:" + directory);
    Sessions.Session ended;
    Sessions.Session open;
    try (var service = ObjectService.open(config, _ -> false)) {
      ended = service.sessions().open();
      open = service.sessions().open();
      assertNotEquals(ended.id(), open.id());
      assertTrue(service.sessions().end(ended.id()));
      assertFalse(service.sessions().end(ended.id()));
    }
    try (var service = ObjectService.open(config, _ -> false)) {
      assertEquals(
          List.of(open.id()), service.sessions().all().stream().map(Sessions.Session::id).toList());
      assertTrue(service.sessions().all().getFirst().isSecret(open.secret()));
      assertFalse(service.sessions().all().getFirst().isSecret(ended.secret()));
      long next = service.sessions().open().id();
      assertTrue(next > open.id(), "session " + next + " after " + open.id());
    }
  }

  @Test
  void theTableDoesNotGrowWithSessionsThatHaveEnded() {
    try (var service = ObjectService.open(StoaConfig.of("memory:"), _ -> false)) {
      for (int i = 0; i < 3_000; i++)
        assertTrue(service.sessions().end(service.sessions().open().id()));
      assertTrue(
          service.sessions().oldest() > 4_000,
          "the stream begins at " + service.sessions().oldest());
      assertEquals(List.of(), service.sessions().all());
    }
  }
}
