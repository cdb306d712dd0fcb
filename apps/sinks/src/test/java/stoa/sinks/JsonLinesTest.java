package stoa.sinks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Changes;
import stoa.Keep;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;

/// Changes as lines of a file.
class JsonLinesTest {
  private static final Duration IDLE = Duration.ofMillis(1);

  @Shared(name = "sinks.Account")
  static class Account {
    private long balance;

    public long add(long amount) {
      balance += amount;
      return balance;
    }

    @Accessor
    public long balance() {
      return balance;
    }
  }

  private static void write(Stoa stoa, Path path) throws Exception {
    try (var sink = new JsonLines(path)) {
      sink.run(stoa, Changes.of(Account.class).withStates(), IDLE);
    }
  }

  @Test
  void anotherRunGoesOnBehindTheOneBefore(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("changes.jsonl");
    try (Stoa stoa = Stoa.open("memory:");
        var sink = new JsonLines(path)) {
      Account alice = stoa.get(Account.class, "alice");
      for (int i = 1; i <= 3; i++) {
        alice.add(i);
        assertEquals(1, sink.run(stoa, Changes.of(Account.class), IDLE));
        assertEquals(0, sink.run(stoa, Changes.of(Account.class), IDLE));
        assertEquals(i, Files.readAllLines(path).size());
      }
    }
  }

  @Test
  void eachChangeIsInTheFileOnceWhereverAnEarlierRunEnded(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("changes.jsonl");
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withKeep(Keep.all()))) {
      Account alice = stoa.get(Account.class, "alice");
      Account bob = stoa.get(Account.class, "bob");
      alice.add(5);
      bob.add(7);
      write(stoa, path);
      stoa.transact(() -> {
        alice.add(-2);
        bob.add(2);
      });
      stoa.delete(bob);
      write(stoa, path);
      List<String> whole = Files.readAllLines(path);
      assertEquals(5, whole.size());
      assertTrue(
          whole.get(0).startsWith("{\"before\":null,\"after\":{\"balance\":5},\"source\":{"),
          whole.get(0));
      assertTrue(whole.get(1).contains("\"snapshot\":\"last\""), whole.get(1));
      assertTrue(
          whole
              .get(2)
              .contains(
                  "\"op\":\"u\",\"call\":{\"method\":\"add(long)\",\"arguments\":[-2],\"returned\":3}"),
          whole.get(2));
      assertTrue(whole.get(4).contains("\"op\":\"d\""), whole.get(4));
      byte[] bytes = Files.readAllBytes(path);
      for (int length = 0; length < bytes.length; length += 11) {
        Files.write(path, java.util.Arrays.copyOf(bytes, length));
        write(stoa, path);
        List<String> again = Files.readAllLines(path);
        // A run that ended before it had all present objects begins anew, with those of now.
        if (again.size() == 1) assertTrue(again.getFirst().contains("\"balance\":3"));
        else assertEquals(whole, again);
      }
    }
  }
}
