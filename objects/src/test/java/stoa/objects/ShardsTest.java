package stoa.objects;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.Accessor;
import stoa.Blob;
import stoa.Corrupt;
import stoa.Shared;
import stoa.Stoa;
import stoa.StreamKey;

class ShardsTest {
  private static final int LEDGERS = 12;

  @Shared(name = "shards.Ledger")
  static class Ledger {
    private final List<String> lines = new ArrayList<>();

    public int add(String line) {
      lines.add(line);
      return lines.size();
    }

    /// Adds to another one too, which is in another shard perhaps.
    public int addToBoth(String line, Ledger other) {
      return add(line) + other.add(line);
    }

    @Accessor
    public List<String> lines() {
      return List.copyOf(lines);
    }
  }

  private static Ledger ledger(Stoa stoa, int number) {
    return stoa.get(Ledger.class, number % LEDGERS);
  }

  /// Works on objects and streams that are spread over the shards.
  private static void work(Stoa stoa, String name) {
    var underWay = new ArrayList<CompletableFuture<?>>();
    for (int i = 0; i < 60; i++) {
      String line = name + " " + i;
      Ledger other = ledger(stoa, i * 5 + 1);
      underWay.add(stoa.async(ledger(stoa, i), ledger -> ledger.add(line)));
      if (i % 7 == 0) ledger(stoa, i).addToBoth(line + " both", other);
      StreamKey stream = StreamKey.of("stream " + i % 5);
      underWay.add(stoa.streams().appendAsync(stream, line.getBytes(UTF_8)));
    }
    underWay.forEach(CompletableFuture::join);
    int from = 3;
    stoa.transact(() -> {
      for (int i = from; i < from + 4; i++) ledger(stoa, i).add(name + " together");
    });
  }

  private static List<List<String>> all(Stoa stoa) {
    var all = new ArrayList<List<String>>();
    for (int i = 0; i < LEDGERS; i++) all.add(ledger(stoa, i).lines());
    for (int i = 0; i < 5; i++) {
      all.add(
          stoa.streams().readAll(StreamKey.of("stream " + i)).stream()
              .map(entry -> entry.address() + " " + new String(entry.data(), UTF_8))
              .toList());
    }
    return all;
  }

  private static void delete(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) Files.delete(file);
    }
    Files.delete(directory);
  }

  @ParameterizedTest
  @ValueSource(strings = {"?shards=1", "?shards=4", "?shards=2&copies=full"})
  void objectsStreamsAndTransactionsAreTheSameOnAnyNumberOfShards(
      String settings, @TempDir Path directory) {
    List<List<String>> before;
    List<List<String>> expected;
    try (Stoa one = Stoa.open("memory:")) {
      work(one, "first");
      expected = all(one);
    }
    try (Stoa stoa = Stoa.open("file:" + directory + settings)) {
      work(stoa, "first");
      before = all(stoa);
      assertEquals(expected, before);
    }
    try (Stoa stoa = Stoa.open("file:" + directory + settings)) {
      assertEquals(before, all(stoa));
      assertEquals(LEDGERS, stoa.list(Ledger.class).stream().count());
      Ledger ledger = ledger(stoa, 0);
      long version = stoa.history(ledger).version();
      assertEquals(before.getFirst(), stoa.history(ledger).at(version).lines());
      work(stoa, "second");
    }
    boolean several = !settings.equals("?shards=1");
    assertEquals(several, Files.isDirectory(directory.resolve("shard-1")));
  }

  @Test
  void theNumberOfShardsIsFixed(@TempDir Path directory) throws IOException {
    String url = "file:" + directory;
    try (Stoa stoa = Stoa.open(url + "?shards=3")) {
      work(stoa, "x");
    }
    for (String other : List.of("", "?shards=2", "?shards=4", "?shards=3&copies=full")) {
      var told = assertThrows(IllegalArgumentException.class, () -> Stoa.open(url + other).close());
      assertTrue(String.valueOf(told.getMessage()).contains("3 shards"), told::getMessage);
      try (var there = Files.list(directory)) {
        assertEquals(
            List.of("shard-0", "shard-1", "shard-2"),
            there.map(path -> String.valueOf(path.getFileName())).sorted().toList());
      }
    }
    for (String wrong : List.of("?shards=0", "?shards=x", "?what=3", "?shards=1&copies=full")) {
      assertThrows(IllegalArgumentException.class, () -> Stoa.open(url + wrong).close());
    }
    try (Stoa stoa = Stoa.open(url + "?shards=3")) {
      work(stoa, "y");
    }
  }

  @Test
  void aDirectoryOfOneShardIsNotTakenForOneOfSeveral(@TempDir Path directory) {
    Stoa.open("file:" + directory).close();
    assertThrows(
        IllegalArgumentException.class, () -> Stoa.open("file:" + directory + "?shards=2").close());
    Stoa.open("file:" + directory).close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aShardsDirectoryThatIsLostIsMadeAgain(int lost, @TempDir Path directory) throws IOException {
    String url = "file:" + directory + "?shards=3&copies=full";
    List<List<String>> before;
    try (Stoa stoa = Stoa.open(url)) {
      work(stoa, "first");
      before = all(stoa);
    }
    delete(directory.resolve("shard-" + lost));
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(before, all(stoa));
      work(stoa, "second");
      before = all(stoa);
    }
    delete(directory.resolve("shard-" + (lost + 1) % 3));
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(before, all(stoa));
    }
  }

  @Test
  void aShardsDirectoryThatIsLostWithoutCopiesIsToldOf(@TempDir Path directory) throws IOException {
    String url = "file:" + directory + "?shards=3";
    try (Stoa stoa = Stoa.open(url)) {
      work(stoa, "first");
    }
    delete(directory.resolve("shard-2"));
    assertThrows(Corrupt.class, () -> Stoa.open(url).close());
  }

  /// vCorfu, Figure 10: the log replicas answer while a stream replica is down.
  @Test
  void objectsOfADamagedShardAreReadAndGoOn(@TempDir Path directory) throws IOException {
    String url = "file:" + directory + "?shards=2&copies=full";
    List<List<String>> before;
    try (Stoa stoa = Stoa.open(url)) {
      work(stoa, "first");
      before = all(stoa);
    }
    try (Stoa stoa = Stoa.open(url)) {
      // All objects need the disk: none is in memory.
      spoil(directory.resolve("shard-1"));
      assertEquals(before, all(stoa));
      work(stoa, "second");
      assertFalse(all(stoa).equals(before));
    }
  }

  private static void spoil(Path shard) throws IOException {
    try (var files = Files.list(shard)) {
      for (Path file :
          files.filter(f -> f.getFileName().toString().startsWith("segment")).toList()) {
        try (var channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          var byteAt = ByteBuffer.allocate(1);
          for (long at = 512; at < Math.min(channel.size(), 1 << 20); at += 64) {
            channel.read(byteAt.clear(), at);
            byteAt.put(0, (byte) (byteAt.get(0) + 1));
            if (byteAt.get(0) != 1) channel.write(byteAt.clear(), at);
          }
        }
      }
    }
  }

  @Test
  void blobsAreSpreadOverShardsAndRefusedWhereTheyWouldBeKeptOnce(@TempDir Path directory) {
    try (Stoa stoa = Stoa.open("file:" + directory + "?shards=3")) {
      for (int i = 0; i < 6; i++) stoa.get(Blob.class, "b" + i).write(0, new byte[] {(byte) i});
    }
    try (Stoa stoa = Stoa.open("file:" + directory + "?shards=3")) {
      for (int i = 0; i < 6; i++) {
        assertEquals(i, stoa.get(Blob.class, "b" + i).read(0, 1)[0]);
        assertTrue(stoa.delete(stoa.get(Blob.class, "b" + i)));
      }
      assertEquals(0, stoa.list(Blob.class).stream().count());
    }
    try (Stoa stoa = Stoa.open("memory:?shards=2&copies=full")) {
      assertThrows(UnsupportedOperationException.class, () -> stoa.get(Blob.class, "b"));
    }
  }
}
