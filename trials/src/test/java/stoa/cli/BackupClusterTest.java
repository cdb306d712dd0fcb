package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Blob;
import stoa.Shared;
import stoa.Stoa;
import stoa.StreamKey;

/// Backups of stores that several groups keep, and stores that change their number of groups.
class BackupClusterTest {
  private static final int ACCOUNTS = 12;
  private static final StreamKey EVENTS = StreamKey.of("events");

  /// A sum of money.
  @Shared(name = "backup.Account")
  public static class Account {
    private long balance;

    /// Adds an amount.
    public void add(long amount) {
      balance += amount;
    }

    /// The balance.
    @Accessor
    public long balance() {
      return balance;
    }
  }

  @TempDir private Path directory;

  private static String stoa(String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(0, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private static Account account(Stoa stoa, int number) {
    return stoa.get(Account.class, "account " + number);
  }

  private static void move(Stoa stoa, int from, int to) {
    stoa.transact(() -> {
      account(stoa, from).add(-1);
      account(stoa, to).add(1);
    });
  }

  /// Compares what a restored store has with what the original had.
  private static void compare(Stoa then, Stoa original) {
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      Account restored = account(then, i);
      long version = then.history(restored).version();
      sum += restored.balance();
      var was = original.history(account(original, i));
      assertTrue(version <= was.version());
      assertEquals(was.at(version).balance(), restored.balance());
    }
    assertEquals(0, sum);
    try (var listing = then.list(Account.class)) {
      assertEquals(ACCOUNTS, listing.stream().count());
    }
    for (int i = 0; i < ACCOUNTS; i++) move(then, i, (i + 1) % ACCOUNTS);
  }

  @Test
  void aBackupWhileClientsTransactIsOfOneMomentInAllGroups() throws Exception {
    try (var server =
        ServerProcess.start(directory.resolve("a"), List.of("--replicated", "--groups", "3"))) {
      try (var stoa = Stoa.open(server.url())) {
        for (int i = 0; i < ACCOUNTS; i++) move(stoa, i, (i + 1) % ACCOUNTS);
        var over = new AtomicBoolean();
        var writers = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) {
          int first = i;
          writers.add(
              Thread.ofVirtual()
                  .start(() -> {
                    for (int n = first; !over.get(); n++) {
                      move(stoa, n % ACCOUNTS, (3 * n + 1) % ACCOUNTS);
                    }
                  }));
        }
        for (int i = 0; i < 3; i++) {
          stoa("backup", "--server", server.address(), "--to", path("kept"));
        }
        over.set(true);
        for (Thread writer : writers) writer.join();
        stoa("backup", "--verify", path("kept"));
        stoa("restore", "--from", path("kept"), "--to", path("b"), "--groups", "3");
        try (var restored = ServerProcess.start(directory.resolve("b"));
            var then = Stoa.open(restored.url())) {
          compare(then, stoa);
        }
        stoa("restore", "--from", path("kept"), "--to", path("alone"));
        try (var then = Stoa.open("file:" + path("alone"))) {
          compare(then, stoa);
        }
        // Another number of groups, as of a moment between two backups.
        long[] addresses =
            Pattern.compile("log address (\\d+)")
                .matcher(stoa("backup", "--list", path("kept")))
                .results()
                .mapToLong(found -> Long.parseLong(found.group(1)))
                .toArray();
        String at = "" + (addresses[1] + addresses[2]) / 2;
        stoa("restore", "--from", path("kept"), "--to", path("two"), "--groups", "2", "--at", at);
        try (var restored = ServerProcess.start(directory.resolve("two"));
            var then = Stoa.open(restored.url())) {
          compare(then, stoa);
        }
      }
    }
  }

  private void fill(Stoa stoa) {
    for (int i = 0; i < ACCOUNTS; i++) move(stoa, i, (i + 1) % ACCOUNTS);
    for (int i = 0; i < 40; i++) {
      stoa.map("map " + i % 4, String.class, Integer.class).put("key" + i, i);
      stoa.store().put("key" + i, "value" + i);
    }
    Account gone = stoa.get(Account.class, "gone");
    gone.add(5);
    stoa.delete(gone);
    var _ = stoa.snapshot("morning");
    stoa.get(Blob.class, "blob").write(0, new byte[] {1, 2, 3});
    for (int i = 0; i < 5; i++) stoa.streams().append(EVENTS, new byte[] {(byte) i});
    stoa.streams().trim(EVENTS, 2);
    move(stoa, 0, 1);
  }

  private static List<String> lines(Stoa stoa) {
    var lines = new ArrayList<String>();
    try (var listing = stoa.list(Account.class)) {
      listing.stream().map(one -> stoa.ref(one).toString()).sorted().forEach(lines::add);
    }
    for (int i = 0; i < ACCOUNTS; i++) {
      var history = stoa.history(account(stoa, i));
      lines.add(i + ": " + history.version() + " from " + history.oldest());
      for (var entry : history.entries(1, 1_000)) {
        lines.add(entry.address() + " " + entry.time() + " " + entry.event());
        lines.add("" + history.at(entry.version()).balance());
      }
    }
    lines.add(stoa.history(stoa.get(Account.class, "gone")).entries(1, 100).toString());
    for (int i = 0; i < 4; i++) {
      lines.add("" + new TreeMap<>(stoa.map("map " + i, String.class, Integer.class)));
    }
    for (int i = 0; i < 40; i++) lines.add("" + stoa.store().get("key" + i, String.class));
    for (var one : stoa.snapshots()) lines.add(one.name() + " " + one.address());
    Blob blob = stoa.get(Blob.class, "blob");
    lines.add(Arrays.toString(blob.read(0, 3)) + blob.version());
    for (var entry : stoa.streams().readAll(EVENTS)) {
      lines.add(entry.address() + " " + entry.log() + " " + Arrays.toString(entry.data()));
    }
    return lines;
  }

  @Test
  void aStoreOfOneServerBecomesThatOfSeveralAndBack() throws Exception {
    List<String> before;
    try (var stoa = Stoa.open("file:" + path("alone"))) {
      fill(stoa);
      before = lines(stoa);
    }
    stoa("backup", "--data", path("alone"), "--to", path("kept"));

    stoa("restore", "--from", path("kept"), "--to", path("three"), "--groups", "3");
    try (var server = ServerProcess.start(directory.resolve("three"));
        var stoa = Stoa.open(server.url())) {
      assertEquals(before, lines(stoa));
      String audit;
      do {
        audit = stoa("audit", "--server", server.address());
      } while (audit.isEmpty());
      assertTrue(audit.contains("offline          restore " + path("kept")), audit);
      long version = stoa.history(account(stoa, 3)).version();
      move(stoa, 3, 4);
      assertEquals(version + 1, stoa.history(account(stoa, 3)).version());
      Account again = stoa.get(Account.class, "gone");
      again.add(7);
      assertEquals(7, again.balance());
      assertTrue(stoa.history(again).version() > 2, "it goes on in its stream");
    }

    stoa("restore", "--from", path("kept"), "--to", path("one"), "--groups", "1");
    try (var server = ServerProcess.start(directory.resolve("one"))) {
      var joining = new ArrayList<>(List.of("--name", "two"));
      joining.addAll(server.joining());
      try (var two = ServerProcess.start(directory.resolve("two"), joining)) {
        PlacementWait.await(server.address(), 2);
        stoa("backup", "--server", server.address(), "--to", path("kept"));
        assertTrue(two.stop());
      }
    }
    // The other server got all of it; commands that it has not applied may be behind that.
    FormatSample.cutOff(directory.resolve("two/replica-0"));
    try (var stoa = Stoa.open("file:" + path("two/replica-0"))) {
      assertEquals(before, lines(stoa));
    }
    stoa("restore", "--from", path("kept"), "--to", path("again"));
    try (var stoa = Stoa.open("file:" + path("again"))) {
      assertEquals(before, lines(stoa));
    }
  }

  private Path copy(String from, String to) throws IOException {
    Path copied = Files.createDirectory(directory.resolve(to));
    try (var files = Files.list(directory.resolve(from))) {
      for (Path file : files.toList()) Files.copy(file, copied.resolve(file.getFileName()));
    }
    return copied;
  }

  @Test
  void aServerTakesOverTheStoreThatItKeptAlone() throws Exception {
    List<String> before;
    try (var stoa = Stoa.open("file:" + path("alone"))) {
      fill(stoa);
      before = lines(stoa);
    }
    Path one = copy("alone", "one");
    Path three = copy("alone", "three");
    // It was broken off after the first file.
    Files.createFile(three.resolve("takeover.unfinished"));
    Path whole = Files.createDirectory(three.resolve("whole"));
    Files.move(three.resolve("manifest"), whole.resolve("manifest"));
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(1, Main.run(out, out, "serve", "--data", three.toString()), text::toString);
    assertTrue(text.toString().contains("start it with --replicated"), text::toString);

    for (int groups : List.of(1, 3)) {
      Path taken = groups == 1 ? one : three;
      List<String> options = List.of("--replicated", "--groups", "" + groups);
      try (var server = ServerProcess.start(taken, options);
          var stoa = Stoa.open(server.url())) {
        assertEquals(before, lines(stoa));
        move(stoa, 3, 4);
        String said = stoa("replicas", "5", "--server", server.address());
        assertTrue(said.startsWith("each group will have 5 replicas"), said);
        assertTrue(server.stop());
      }
      assertTrue(Files.notExists(taken.resolve("takeover.unfinished")));
      assertTrue(Files.notExists(taken.resolve("whole")));
    }
    try (var server = ServerProcess.start(three);
        var stoa = Stoa.open(server.url())) {
      assertEquals(1, account(stoa, 4).balance());
    }
  }

  private static Build tally(Path classes, int factor) {
    return new Build(
        classes,
        "public record Note(long amount, List<Object> of) {}",
        "@Shared(name = \"backup.Tally\") public class Tally {"
            + " private long total; private final List<Note> notes = new ArrayList<>();"
            + " public long add(Note note) { notes.add(note); total += %d * note.amount();"
                .formatted(factor)
            + " return total; }"
            + " @Accessor public String said() { return total + \" \" + notes; } }",
        "public class Client { public static Object note() {"
            + " return new Note(5, List.of(new Note(1, List.of()))); } }");
  }

  private static List<String> tallies(Build build, Stoa stoa) {
    var lines = new ArrayList<String>();
    for (int i = 0; i < ACCOUNTS; i++) {
      Object tally = build.object(stoa, "Tally", i);
      var history = stoa.history(tally);
      lines.add("" + Build.call(tally, "said"));
      for (long version = 1; version <= history.version(); version++) {
        lines.add(version + ": " + Build.call(history.at(version), "said"));
      }
    }
    return lines;
  }

  @Test
  void theVersionsOfCodeOfEachGroupExecuteItsCallsInTheJoinedStore() throws Exception {
    Build one = tally(directory.resolve("one"), 1);
    Build two = tally(directory.resolve("two"), 10);
    List<String> before;
    var options = List.of("--replicated", "--groups", "3", "--client-classes");
    try (var server = ServerProcess.start(directory.resolve("a"), options)) {
      one.client(
          server.url(),
          stoa -> {
            for (int i = 0; i < ACCOUNTS; i++) {
              Build.call(one.object(stoa, "Tally", i), "add", one.callStatic("Client", "note"));
            }
            return true;
          });
      stoa("deploy", two.path(), "--server", server.address());
      before =
          two.client(
              server.url(),
              stoa -> {
                for (int i = 0; i < ACCOUNTS; i++) {
                  Build.call(two.object(stoa, "Tally", i), "add", two.callStatic("Client", "note"));
                }
                return tallies(two, stoa);
              });
      stoa("backup", "--server", server.address(), "--to", path("kept"));
    }
    assertTrue(before.getFirst().startsWith("55 "), before::toString);
    stoa("restore", "--from", path("kept"), "--to", path("alone"));
    assertEquals(before, two.client("file:" + path("alone"), stoa -> tallies(two, stoa)));
  }
}
