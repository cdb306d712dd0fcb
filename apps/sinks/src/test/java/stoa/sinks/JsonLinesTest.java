package stoa.sinks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
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

  @Shared(name = "sinks.Tally")
  static class Tally {
    private int count;

    public void count() {
      count++;
    }

    @Accessor
    public int counted() {
      return count;
    }
  }

  @Test
  void anEnvelopeHasTheMomentAndThePlaceOfItsChange(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("changes.jsonl");
    try (Stoa stoa = Stoa.open("memory:");
        var sink = new JsonLines(path)) {
      Account alice = stoa.get(Account.class, "alice");
      Tally tally = stoa.get(Tally.class, "all");
      sink.run(stoa, Changes.all(), IDLE);
      stoa.transact(() -> {
        alice.add(1);
        tally.count();
        alice.add(2);
      });
      sink.run(stoa, Changes.all(), stoa.subscribe("audit", Duration.ofDays(1)), IDLE);
      Instant logged = stoa.history(alice).entries(2, 2).getFirst().time();
      long micros = ChronoUnit.MICROS.between(Instant.EPOCH, logged);
      List<String> lines = Files.readAllLines(path);
      assertEquals(3, lines.size());
      String last = lines.getLast();
      String log = stoa.history(alice).entries(2, 2).getFirst().address().toString();
      assertTrue(
          last.contains(
              "\"source\":{\"version\":2,\"connector\":\"stoa\",\"name\":\"audit\",\"ts_ms\":%d,"
                      .formatted(logged.toEpochMilli())
                  + "\"ts_us\":%d,\"ts_ns\":%d000,\"snapshot\":\"false\",".formatted(micros, micros)
                  + "\"type\":\"sinks.Account\",\"key\":\"alice\",\"id\":\"%s\",\"log\":\"%s\"}"
                      .formatted(Envelope.id(stoa.ref(alice)), log)),
          last);
      for (int i = 0; i < 3; i++) {
        String end =
            "\"ts_ms\":%d,\"transaction\":{\"id\":\"%s\",\"total_order\":%d,\"data_collection_order\":%d,\"size\":3}}"
                .formatted(logged.toEpochMilli(), log, i + 1, i == 2 ? 2 : 1);
        assertTrue(lines.get(i).endsWith(end), lines.get(i));
      }
    }
  }

  @Test
  void aFileOfAnEarlierVersionGoesOn(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("changes.jsonl");
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.get(Account.class, "alice");
      alice.add(1);
      write(stoa, path);
      String before = Files.readString(path).replaceAll(",\"data_collection_order\":\\d+", "");
      Files.writeString(path, before);
      alice.add(2);
      write(stoa, path);
      List<String> lines = Files.readAllLines(path);
      assertEquals(2, lines.size());
      assertEquals(before, lines.getFirst() + "\n");
    }
  }

  @Test
  void aHoleThatALossOfPowerLeavesIsCutOff(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("changes.jsonl");
    Path mark = folder.resolve("changes.jsonl.token");
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withKeep(Keep.all()))) {
      Account alice = stoa.get(Account.class, "alice");
      alice.add(1);
      write(stoa, path);
      int synced = (int) Files.size(path);
      byte[] token = Files.readAllBytes(mark);
      alice.add(2);
      write(stoa, path);
      int lost = (int) Files.size(path);
      alice.add(3);
      write(stoa, path);
      byte[] whole = Files.readAllBytes(path);

      // The disk has the first line, and of what was written after its sync only the third.
      byte[] holed = whole.clone();
      Arrays.fill(holed, synced, lost, (byte) 0);
      Files.write(path, holed);
      Files.write(mark, token);
      write(stoa, path);
      assertEquals(new String(whole, UTF_8), Files.readString(path));

      Files.write(path, holed);
      Files.delete(mark);
      write(stoa, path);
      assertEquals(new String(whole, UTF_8), Files.readString(path));

      // Lines behind the token may be of any kind: they are written again.
      Arrays.fill(holed, synced, lost - 1, (byte) ' ');
      Files.write(path, holed);
      Files.write(mark, token);
      write(stoa, path);
      assertEquals(new String(whole, UTF_8), Files.readString(path));
    }
  }

  @Test
  void keysOfOneTextAreToldApart(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("changes.jsonl");
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withKeep(Keep.all()))) {
      Account number = stoa.get(Account.class, 1L);
      Account small = stoa.get(Account.class, 1);
      number.add(1);
      small.add(2);
      write(stoa, path);
      stoa.delete(small);
      for (int i = 0; i < 3; i++) number.add(3);
      var history = stoa.history(number);
      assertEquals(history.version(), history.trim(history.version()));
      write(stoa, path); // begins anew with the present objects, and deletes what is gone
      List<String> lines = Files.readAllLines(path);
      assertEquals(4, lines.size());
      String id = "\"id\":\"" + Envelope.id(stoa.ref(small)) + "\"";
      assertTrue(lines.get(3).contains("\"op\":\"d\""), lines.get(3));
      assertTrue(lines.get(3).contains(id), lines.get(3));
    }
  }

  @Test
  void collectionsHaveTheirParts(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("changes.jsonl");
    try (Stoa stoa = Stoa.open("memory:");
        var sink = new JsonLines(path)) {
      var stock = stoa.map("stock", String.class, Long.class);
      stock.put("saw", 3L);
      stoa.list("names", String.class).add("ann");
      stoa.rangeMap("ranges", Long.class, String.class).put(1L, 5L, "bob");
      assertEquals(3, sink.run(stoa, Changes.all(), IDLE));
      List<String> lines = Files.readAllLines(path);
      assertTrue(lines.get(0).startsWith("{\"before\":null,\"after\":[\"ann\"],"), lines.get(0));
      assertTrue(lines.get(1).startsWith("{\"before\":null,\"after\":{\"saw\":3},"), lines.get(1));
      assertTrue(
          lines
              .get(2)
              .startsWith("{\"before\":null,\"after\":[{\"from\":1,\"to\":5,\"value\":\"bob\"}],"),
          lines.get(2));
      // In another value, a collection is a reference.
      assertEquals("[\"stoa.Map[stock]\"]", Json.text(List.of(stock)));
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
        Files.write(path, Arrays.copyOf(bytes, length));
        write(stoa, path);
        List<String> again = Files.readAllLines(path);
        // A run that ended before it had all present objects begins anew, with those of now.
        if (again.size() == 1) assertTrue(again.getFirst().contains("\"balance\":3"));
        else assertEquals(whole, again);
      }
    }
  }
}
