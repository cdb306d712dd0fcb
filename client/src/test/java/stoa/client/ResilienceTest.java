package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Blob;
import stoa.BlobSnapshot;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.node.Server;
import stoa.storage.disk.MemoryDisk;

class ResilienceTest {
  private static final int THREADS = 8;
  private static final int CALLS = 150;
  private static final int PAGE_BYTES = 2_000;

  @Shared(name = "resilience.Log")
  static class Log {
    private final List<String> lines = new ArrayList<>();

    public int add(String line) {
      lines.add(line);
      return lines.size();
    }

    @Accessor
    public List<String> lines() {
      return List.copyOf(lines);
    }

    @Accessor
    public byte[] page(int number) {
      var page = new byte[PAGE_BYTES];
      java.util.Arrays.fill(page, (byte) number);
      return page;
    }
  }

  @Shared(name = "resilience.Account")
  static class Account {
    private long balance;

    public void add(long amount) {
      balance += amount;
    }

    @Accessor
    public long balance() {
      return balance;
    }
  }

  private static StoaConfig client(int port) {
    return StoaConfig.of("stoa://127.0.0.1:" + port)
        .withLimits(Limits.standard().withCallTimeMax(Duration.ofSeconds(30)));
  }

  /// Each thread writes its numbers, one after the other, to all logs in turn.
  private static void write(Stoa stoa, String name, int logs) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var running = new ArrayList<Future<?>>();
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        running.add(
            threads.submit(() -> {
              for (int i = 0; i < CALLS; i++) {
                int size = stoa.get(Log.class, name + i % logs).add(thread + " " + i);
                assertTrue(size > 0);
              }
              return true;
            }));
      }
      for (Future<?> one : running) one.get();
    }
  }

  /// Every line is there once, and those of a thread in their order.
  private static void check(Stoa stoa, String name, int logs) {
    int all = 0;
    for (int l = 0; l < logs; l++) {
      List<String> lines = stoa.get(Log.class, name + l).lines();
      all += lines.size();
      assertEquals(lines.size(), lines.stream().distinct().count(), "run twice: " + lines);
      var last = new int[THREADS];
      java.util.Arrays.fill(last, -1);
      for (String line : lines) {
        int thread = Integer.parseInt(line.substring(0, line.indexOf(' ')));
        int number = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
        assertTrue(number > last[thread], "out of order: " + line);
        last[thread] = number;
      }
    }
    assertEquals(THREADS * CALLS, all);
  }

  @Test
  void runsEveryCallOnceAndInOrderOverAConnectionThatIsCutAgainAndAgain() throws Exception {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0)) {
      for (long seed = 1; seed <= 3; seed++) {
        try (var network = new Cuts(server.port(), seed, 12_000);
            Stoa stoa = Stoa.open(client(network.port()))) {
          write(stoa, "seed " + seed + " ", 3);
          assertTrue(network.cuts() > 2, "only " + network.cuts() + " cuts");
          network.calm();
          check(stoa, "seed " + seed + " ", 3);
        }
      }
    }
  }

  @Test
  void commitsEveryTransactionOnceOverAConnectionThatIsCut() throws Exception {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        var network = new Cuts(server.port(), 5, 12_000);
        Stoa stoa = Stoa.open(client(network.port()))) {
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var running = new ArrayList<Future<?>>();
        for (int t = 0; t < 4; t++) {
          running.add(
              threads.submit(() -> {
                for (int i = 0; i < 40; i++) {
                  stoa.transact(() -> {
                    stoa.get(Account.class, "from").add(-1);
                    stoa.get(Account.class, "to").add(1);
                  });
                }
                return true;
              }));
        }
        for (Future<?> one : running) one.get();
      }
      network.calm();
      assertEquals(160, stoa.get(Account.class, "to").balance());
      assertEquals(-160, stoa.get(Account.class, "from").balance());
    }
  }

  @Test
  void answersArriveAlsoWhenNoConnectionLivesForAllOfThem() throws Exception {
    int pages = 25;
    int bytesMax = 16_000;
    assertTrue(3 * bytesMax < pages * PAGE_BYTES); // three connections cannot carry all
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        var network = new Cuts(server.port(), 3, bytesMax);
        Stoa stoa = Stoa.open(client(network.port()))) {
      Log log = stoa.get(Log.class, "book");
      assertEquals(1, log.add("a line"));
      var begun = new ArrayList<CompletableFuture<byte[]>>();
      for (int i = 0; i < pages; i++) {
        int number = i;
        begun.add(stoa.async(log, each -> each.page(number)));
      }
      for (int i = 0; i < pages; i++) {
        byte[] page = begun.get(i).get();
        assertEquals(PAGE_BYTES, page.length);
        for (byte each : page) assertEquals((byte) i, each);
      }
      assertTrue(network.cuts() > 2, "only " + network.cuts() + " cuts");
      network.calm();
    }
  }

  @Test
  void changesABlobOnceAndInOrderOverAConnectionThatIsCut() throws Exception {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        var network = new Cuts(server.port(), 11, 12_000);
        Stoa stoa = Stoa.open(client(network.port()))) {
      Blob blob = stoa.get(Blob.class, "pipe");
      long version = 0;
      for (int batch = 0; batch < 40; batch++) {
        var begun = new ArrayList<CompletableFuture<Long>>();
        for (int i = 0; i < 20; i++) {
          begun.add(blob.writeAsync(i, ByteBuffer.wrap(new byte[] {(byte) batch})));
        }
        for (CompletableFuture<Long> one : begun) assertEquals(++version, one.join());
        BlobSnapshot snapshot = blob.snapshot();
        assertEquals(version, snapshot.version());
        snapshot.release();
        assertThrows(TooOld.class, snapshot::size);
        assertEquals(List.of(), blob.snapshots());
      }
      assertTrue(network.cuts() > 2, "only " + network.cuts() + " cuts");
      network.calm();
      assertEquals(version, blob.version());
    }
  }

  @Test
  void goesOnWhereItWasWhenTheServerIsStartedAgain(@TempDir Path directory) throws Exception {
    var config = StoaConfig.of("file:" + directory);
    Server server = ServedEngine.serve(config, 0);
    try (var network = new Cuts(server.port(), 7, Integer.MAX_VALUE);
        Stoa stoa = Stoa.open(client(network.port()))) {
      var done = new CountDownLatch(1);
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<?> writing =
            threads.submit(() -> {
              write(stoa, "log ", 3);
              done.countDown();
              return true;
            });
        Log progress = stoa.get(Log.class, "log 0");
        for (int restarts = 0; restarts < 2; restarts++) {
          int enough = 60 * (restarts + 1);
          while (done.getCount() > 0 && progress.lines().size() < enough) Thread.onSpinWait();
          server.close();
          server = ServedEngine.serve(config, 0);
          network.target(server.port());
        }
        writing.get();
      }
      check(stoa, "log ", 3);
    } finally {
      server.close();
    }
  }

  @Test
  void triesTheNextAddressWhenNobodyListensAtOne() throws IOException {
    int free = free();
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa stoa = Stoa.open("stoa://127.0.0.1:" + free + ",127.0.0.1:" + server.port())) {
      stoa.get(Account.class, "a").add(3);
      assertEquals(3, stoa.get(Account.class, "a").balance());
    }
  }

  @Test
  void openingFailsWhenNobodyListens() throws IOException {
    int free = free();
    var config =
        StoaConfig.of("stoa://127.0.0.1:" + free)
            .withLimits(Limits.standard().withCallTimeMax(Duration.ofMillis(200)));
    var failure = assertThrows(Unavailable.class, () -> Stoa.open(config).close());
    assertTrue(String.valueOf(failure.getMessage()).contains("no server answers"));
  }

  @Test
  void openingWaitsForAServerAsLongAsItsUrlSays() throws Exception {
    int free = free();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var config =
          StoaConfig.of("stoa://127.0.0.1:" + free + "?wait=60s")
              .withLimits(Limits.standard().withCallTimeMax(Duration.ofMillis(500)));
      var heard = new CompletableFuture<String>();
      Future<Stoa> opening;
      try (var _ = Warnings.to(heard)) {
        opening = threads.submit(() -> Stoa.open(config));
        String said = heard.get();
        assertTrue(said.contains("no server answers at \"stoa://127.0.0.1:" + free), said);
        assertTrue(said.contains("waiting for one up to "), said);
      }
      Server server = ServedEngine.serve(StoaConfig.of("memory:"), free);
      try (Stoa stoa = opening.get()) {
        stoa.get(Account.class, "a").add(3);
        assertEquals(3, stoa.get(Account.class, "a").balance());
        server.close();
        long began = System.nanoTime();
        var failure = assertThrows(Unavailable.class, () -> stoa.get(Account.class, "a").balance());
        long took = Duration.ofNanos(System.nanoTime() - began).toMillis();
        assertTrue(
            String.valueOf(failure.getMessage()).contains("within 500 ms"), failure::toString);
        assertTrue(took < 4_000, took + " ms");
      } finally {
        server.close();
      }
    }
  }

  @Test
  void openingThatMayNotWaitTriesEachAddressOnce() throws IOException {
    var config = StoaConfig.of("stoa://127.0.0.1:" + free() + "?wait=0s");
    long began = System.nanoTime();
    var failure = assertThrows(Unavailable.class, () -> Stoa.open(config).close());
    assertTrue(String.valueOf(failure.getMessage()).contains("no server answers"));
    assertTrue(Duration.ofNanos(System.nanoTime() - began).toSeconds() < 8);
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0)) {
      String both = "stoa://127.0.0.1:" + free() + ",127.0.0.1:" + server.port() + "?wait=0s";
      Stoa.open(both).close();
    }
  }

  @Test
  void refusesASettingThatItDoesNotKnow() {
    for (String setting : List.of("wait=soon", "wait=5", "shards=4", "wait=99999999999999999h")) {
      var failure =
          assertThrows(
              IllegalArgumentException.class,
              () -> Stoa.open("stoa://127.0.0.1:7400?" + setting).close());
      assertTrue(String.valueOf(failure.getMessage()).contains(setting), failure::toString);
    }
  }

  private static int free() throws IOException {
    try (var socket = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  void openingSaysThatServersAnswerOfWhichNoneHasTheStore() {
    try (var groups = new Groups(StoaConfig.of("memory:"), List.of(new MemoryDisk(64 << 20)), 2)) {
      groups.follow(0, 0);
      var config =
          StoaConfig.of(groups.url())
              .withLimits(Limits.standard().withCallTimeMax(Duration.ofMillis(1_500)));
      var failure = assertThrows(Unavailable.class, () -> Stoa.open(config).close());
      String text = String.valueOf(failure.getMessage());
      assertTrue(text.startsWith("servers answer at \"" + groups.url()), text);
      assertTrue(text.contains("no majority of the servers that keep it is there"), text);
    }
  }

  @Test
  void refusesUrlsThatNameNoServer() {
    for (String url : List.of("stoa:", "stoa://", "stoa://host", "stoa://host:0", "stoa://a:1,")) {
      assertThrows(IllegalArgumentException.class, () -> Stoa.open(url).close(), url);
    }
  }
}
