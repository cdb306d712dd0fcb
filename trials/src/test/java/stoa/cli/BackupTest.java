package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Changes;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamKey;
import stoa.TooOld;
import stoa.cluster.ServerDirectory;
import stoa.log.Replica;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.Merging;
import stoa.objects.ObjectService;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;

/// Backups of stores, and what they are restored into.
class BackupTest {
  /// Counts calls.
  @Shared(name = "backup.Tally")
  public static class Tally {
    private long count;

    /// Counts one.
    public long add() {
      return ++count;
    }

    /// The count.
    @Accessor
    public long count() {
      return count;
    }
  }

  @TempDir private Path directory;

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private Path sample() {
    return sample("format-1.zip");
  }

  private Path sample(String name) {
    Path data = directory.resolve("data");
    var zip = Objects.requireNonNull(BackupTest.class.getResourceAsStream(name));
    try (var in = new ZipInputStream(zip)) {
      Files.createDirectories(data);
      for (var entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        Files.copy(in, data.resolve(entry.getName()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return data;
  }

  private static List<String> lines(Path data) {
    try (var stoa = Stoa.open("file:" + data)) {
      return FormatSample.lines(stoa);
    }
  }

  private static long address(String said) {
    return Long.parseLong(said.replaceFirst("(?s).*log address (\\d+).*", "$1"));
  }

  private static long size(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Test
  void aRestoredStoreHasAllThatTheOriginalHad() throws Exception {
    Path data = sample();
    long first = address(stoa(0, "backup", "--data", data.toString(), "--to", path("kept")));
    List<String> before = lines(data);
    try (var stoa = Stoa.open("file:" + data)) {
      stoa.map("map", String.class, Integer.class).put("later", 1);
      stoa.streams().append(StreamKey.of("events"), new byte[] {'x'});
    }
    String said = stoa(0, "backup", "--data", data.toString(), "--to", path("kept"));
    assertTrue(said.startsWith("backup 2: "), said);
    assertTrue(size(directory.resolve("kept")) < size(data) + 10_000, "it copied all again");
    List<String> after = lines(data);

    stoa(0, "restore", "--from", path("kept"), "--to", path("now"));
    assertEquals(after, lines(directory.resolve("now")));
    stoa(0, "restore", "--from", path("kept"), "--to", path("then"), "--at", "" + first);
    assertEquals(before, lines(directory.resolve("then")));
    assertEquals(2, stoa(0, "backup", "--list", path("kept")).lines().count());
    stoa(0, "backup", "--verify", path("kept"));

    // A store goes on where it was, and its backups too.
    try (var stoa = Stoa.open("file:" + path("now"))) {
      assertEquals(1, stoa.map("map", String.class, Integer.class).get("later"));
      stoa.map("map", String.class, Integer.class).put("later", 2);
    }
    String third = stoa(0, "backup", "--data", path("now"), "--to", path("kept"), "--keep", "1");
    assertTrue(third.startsWith("backup 3: "), third);
    assertEquals(1, stoa(0, "backup", "--list", path("kept")).lines().count());
    stoa(0, "backup", "--verify", path("kept"));
    assertTrue(
        stoa(1, "backup", "--data", path("then"), "--to", path("kept")).contains("was set back"));
  }

  /// Changes that a consumer has seen, and that a restored store does not have, are not passed
  /// over.
  @Test
  void aTokenFromBehindTheMomentOfARestoreIsRefused() throws Exception {
    Path data = directory.resolve("data");
    try (var stoa = Stoa.open("file:" + data)) {
      assertEquals(1, stoa.get(Tally.class, "t").add());
    }
    long first = address(stoa(0, "backup", "--data", data.toString(), "--to", path("kept")));
    Changes<Tally> behind;
    try (var stoa = Stoa.open("file:" + data)) {
      for (int i = 0; i < 30; i++) stoa.get(Tally.class, "t").add();
      behind = Changes.of(Tally.class).after(stoa.streams().tail());
    }
    stoa(0, "backup", "--data", data.toString(), "--to", path("kept"));
    stoa(0, "restore", "--from", path("kept"), "--to", path("then"), "--at", "" + first);
    for (int opened = 0; opened < 2; opened++) {
      try (var stoa = Stoa.open("file:" + path("then"))) {
        var refused = assertThrows(TooOld.class, () -> stoa.changes(behind));
        assertTrue(refused.toString().contains("fromPresent"), refused::toString);
      }
    }
    try (var stoa = Stoa.open("file:" + path("then"))) {
      for (int i = 0; i < 60; i++) stoa.get(Tally.class, "t").add();
      try (var changes = stoa.changes(behind)) {
        var refused = assertThrows(TooOld.class, changes::poll);
        assertTrue(refused.toString().contains("fromPresent"), refused::toString);
      }
      try (var changes = stoa.changes(Changes.of(Tally.class).fromPresent())) {
        assertEquals(61, changes.next().at().version());
      }
    }
  }

  @Test
  void aStoreThatWasDividedIsJoinedAgain() {
    Path data = sample("format-2.zip");
    stoa(0, "backup", "--data", data.toString(), "--to", path("kept"));
    List<String> before = lines(data);
    stoa(0, "restore", "--from", path("kept"), "--to", path("three"), "--groups", "3");
    var groups = new ArrayList<Device>();
    try {
      for (int group = 0; group < 3; group++) {
        groups.add(device(ServerDirectory.replica(directory.resolve("three"), group)));
      }
      Path whole = directory.resolve("whole");
      Merging.run(StoaConfig.of("file:" + whole), groups, () -> device(whole));
    } finally {
      groups.forEach(Device::close);
    }
    assertEquals(before, lines(directory.resolve("whole")));
  }

  private static Device device(Path directory) {
    return Device.open(new FileDisk(directory), DeviceConfig.standard());
  }

  private static boolean hasUnapplied(Path data) {
    return lines(data).stream().anyMatch(line -> line.contains("deposit(long) [1000]"));
  }

  /// The sample of format 7 is a replica whose log ends with a call that it has not applied.
  @Test
  void whatAReplicaHasNotAppliedIsInItsBackupsAndInNoRestoredStore() throws Exception {
    Path data = sample("format-7.zip");
    long address = address(stoa(0, "backup", "--data", data.toString(), "--to", path("kept")));
    stoa(0, "backup", "--verify", path("kept"));
    String text = Files.readString(directory.resolve("kept/backup-00000001"));
    assertTrue(text.startsWith("stoa backup 2\n"), text);
    List<String> before;
    try (var expected =
        Objects.requireNonNull(BackupTest.class.getResourceAsStream("format-7.txt"))) {
      before = new String(expected.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }

    stoa(0, "restore", "--from", path("kept"), "--to", path("alone"));
    assertEquals(before, lines(directory.resolve("alone")));
    assertFalse(hasUnapplied(directory.resolve("alone")));
    String earlier = "" + (address - 1);
    stoa(0, "restore", "--from", path("kept"), "--to", path("then"), "--at", earlier);
    assertFalse(hasUnapplied(directory.resolve("then")));

    stoa(0, "restore", "--from", path("kept"), "--to", path("one"), "--groups", "1");
    try (var replica = new Replica(device(ServerDirectory.replica(directory.resolve("one"), 0)))) {
      assertNull(Objects.requireNonNull(replica.log()).head());
    }
    assertEquals(before, lines(ServerDirectory.replica(directory.resolve("one"), 0)));

    stoa(0, "restore", "--from", path("kept"), "--to", path("three"), "--groups", "3");
    var groups = new ArrayList<Device>();
    try {
      for (int group = 0; group < 3; group++) {
        groups.add(device(ServerDirectory.replica(directory.resolve("three"), group)));
      }
      Path whole = directory.resolve("whole");
      Merging.run(StoaConfig.of("file:" + whole), groups, () -> device(whole));
    } finally {
      groups.forEach(Device::close);
    }
    assertFalse(hasUnapplied(directory.resolve("whole")));

    // The next backup has what was applied meanwhile.
    FormatSample.apply(data);
    stoa(0, "backup", "--data", data.toString(), "--to", path("kept"));
    stoa(0, "backup", "--verify", path("kept"));
    stoa(0, "restore", "--from", path("kept"), "--to", path("now"));
    assertTrue(hasUnapplied(directory.resolve("now")));
    stoa(0, "restore", "--from", path("kept"), "--to", path("again"), "--at", "" + address);
    assertEquals(before, lines(directory.resolve("again")));
  }

  @Test
  void refusalsNameTheRemedy() throws Exception {
    Path data = sample();
    String none = stoa(1, "restore", "--from", path("none"), "--to", path("now"));
    assertTrue(none.contains("./stoa backup --to"), none);
    stoa(0, "backup", "--data", data.toString(), "--to", path("kept"));
    String full = stoa(1, "restore", "--from", path("kept"), "--to", data.toString());
    assertTrue(full.contains("is not empty; choose an empty or a new directory"), full);
    Path target = Files.createDirectories(directory.resolve("now"));
    Files.createFile(target.resolve("restore.unfinished"));
    String part = stoa(1, "restore", "--from", path("kept"), "--to", path("now"));
    assertTrue(part.contains("was broken off; delete it, and restore again"), part);
    String late = stoa(1, "restore", "--from", path("kept"), "--to", path("x"), "--at", "999999");
    assertTrue(late.contains("ends at log address"), late);
    String early =
        stoa(1, "restore", "--from", path("kept"), "--to", path("x"), "--at", "2001-01-01T00:00Z");
    assertTrue(early.contains("nothing is that old"), early);
    for (String[] wrong : new String[][] {{"65", "s1", "groups"}, {"2", "a b", "a server"}}) {
      String refused =
          stoa(
              1,
              "restore",
              "--from",
              path("kept"),
              "--to",
              path("x"),
              "--groups",
              wrong[0],
              "--name",
              wrong[1]);
      assertTrue(refused.contains(wrong[2]), refused);
    }
    assertFalse(Files.exists(directory.resolve("x")));
    try (var stoa = Stoa.open("file:" + path("other"))) {
      stoa.map("map", String.class, Integer.class).put("a", 1);
    }
    String other = stoa(1, "backup", "--data", path("other"), "--to", path("kept"));
    assertTrue(other.contains("backups of another store; choose another folder"), other);
    String foreign = stoa(1, "backup", "--data", data.toString(), "--to", path("other"));
    assertTrue(foreign.contains("is no folder of backups"), foreign);
    try (var _ = Stoa.open("file:" + data)) {
      String open = stoa(1, "backup", "--data", data.toString(), "--to", path("kept"));
      assertTrue(open.contains("give --server in place of --data"), open);
    }

    Path copied = directory.resolve("kept/group-0.1/segment-00000001");
    try (var file = FileChannel.open(copied, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 2_000);
    }
    assertTrue(stoa(1, "backup", "--verify", path("kept")).contains("checksum does not match"));
    String damaged = stoa(1, "restore", "--from", path("kept"), "--to", path("y"));
    assertTrue(damaged.contains("checksum does not match"), damaged);
  }

  @Test
  void aBackupThatIsBrokenOffLeavesTheEarlierOnes() throws Exception {
    Path data = sample();
    stoa(0, "backup", "--data", data.toString(), "--to", path("kept"));
    List<String> before = lines(data);
    // What a process that was killed leaves: bytes behind those that count, and files without text.
    Path group = directory.resolve("kept/group-0.1");
    Files.write(group.resolve("segment-00000001"), new byte[] {7, 7, 7}, StandardOpenOption.APPEND);
    Files.write(group.resolve("segment-00000002"), new byte[] {7, 7, 7});
    Files.write(directory.resolve("kept/backup.next"), new byte[] {7});
    stoa(0, "backup", "--verify", path("kept"));
    stoa(0, "restore", "--from", path("kept"), "--to", path("now"));
    assertEquals(before, lines(directory.resolve("now")));
    stoa(0, "backup", "--data", data.toString(), "--to", path("kept"));
    stoa(0, "backup", "--verify", path("kept"));
    stoa(0, "restore", "--from", path("kept"), "--to", path("later"));
    assertEquals(before, lines(directory.resolve("later")));
  }

  @Test
  void aBackupWhileClientsCallIsOfOneMoment() throws Exception {
    var service = ObjectService.open(StoaConfig.of("file:" + path("data")), _ -> true);
    var addresses = new ArrayList<Long>();
    try (var server = Server.start(ServerConfig.of("127.0.0.1", 0), service)) {
      String at = "127.0.0.1:" + server.port();
      try (var stoa = Stoa.open("stoa://" + at)) {
        Tally one = stoa.get(Tally.class, "one");
        Tally two = stoa.get(Tally.class, "two");
        var over = new AtomicBoolean();
        var writers = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) {
          writers.add(
              Thread.ofVirtual()
                  .start(() -> {
                    while (!over.get()) {
                      stoa.transact(() -> {
                        one.add();
                        two.add();
                      });
                    }
                  }));
        }
        for (int i = 0; i < 3; i++) {
          long before = one.count();
          while (one.count() < before + 20) Thread.onSpinWait();
          addresses.add(address(stoa(0, "backup", "--server", at, "--to", path("kept"))));
        }
        over.set(true);
        for (Thread writer : writers) writer.join();
        stoa(0, "backup", "--verify", path("kept"));
        for (long address : addresses) {
          String to = path("at-" + address);
          stoa(0, "restore", "--from", path("kept"), "--to", to, "--at", "" + address);
          try (var then = Stoa.open("file:" + to)) {
            long count = then.get(Tally.class, "one").count();
            assertEquals(count, then.get(Tally.class, "two").count());
            assertEquals(count, stoa.history(one).at(count).count());
            assertTrue(count > 0 && count < one.count());
            // The client could go on with its session, and learn what became of its calls.
            assertEquals(
                service.sessions().all().toString(),
                ObjectService.of(then, _ -> true).sessions().all().toString());
          }
        }
      }
    }
  }

  @Test
  void textsOfFormat1StayReadable() throws Exception {
    String text =
        """
        stoa backup 1
        number 3
        origin 00112233445566778899aabbccddeeff
        address 4711
        micros 1795696200000000
        taken 2026-11-26T14:30:00Z
        group group-0.1
        segment 1 0 4096 17 40 4000 1795696100000000
        segment 3 8192 1024 5 9 4711 1795696200000000
        group group-1.2
        segment 1 0 128 1 1 2 0
        checksum abb075c6
        """;
    var first =
        new BackupPoint.Group(
            "group-0.1",
            List.of(
                new BackupPoint.Segment(1, 0, 4_096, 17, 40, 4_000, 1_795_696_100_000_000L),
                new BackupPoint.Segment(3, 8_192, 1_024, 5, 9, 4_711, 1_795_696_200_000_000L)));
    var second =
        new BackupPoint.Group("group-1.2", List.of(new BackupPoint.Segment(1, 0, 128, 1, 1, 2, 0)));
    var point =
        new BackupPoint(
            3,
            "00112233445566778899aabbccddeeff",
            4_711,
            1_795_696_200_000_000L,
            Instant.parse("2026-11-26T14:30:00Z"),
            List.of(first, second));
    Path file = Files.writeString(directory.resolve("backup"), text);
    assertEquals(point, BackupPoint.read(file));
    assertEquals(text, point.text());
    Files.writeString(file, text.replace("4711", "4712"));
    assertThrows(IllegalArgumentException.class, () -> BackupPoint.read(file));
  }
}
