package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Blob;
import stoa.BlobSnapshot;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.Stoa;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.cluster.RunningServers.Counter;
import stoa.cluster.RunningServers.Tally;

/// Servers that stop, and that are drained, while clients go on.
class LeavingServersTest {
  @TempDir private Path directory;

  @Test
  void callsGoOnWhenTheServerThatHasTheStoreStops() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = RunningServers.open(servers.get(1))) {
        Counter counter = stoa.get(Counter.class, "hot");
        assertEquals(1, counter.increment());
        int leading;
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
          var calls = new ArrayList<Future<Long>>();
          for (int i = 0; i < 200; i++) calls.add(callers.submit(counter::increment));
          leading = servers.stopLeader(0);
          for (int i = 0; i < 200; i++) calls.add(callers.submit(counter::increment));
          var answers = new TreeSet<Long>();
          for (var call : calls) answers.add(call.get());
          assertEquals(400, answers.size());
          assertEquals(401, answers.last());
        }
        assertEquals(401, counter.value());
        assertNotEquals(leading, RunningServers.leader(servers.first(), 0));
      }
    }
  }

  /// Tells of every put.
  record Every() implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      return value;
    }
  }

  @Test
  void aListenerDoesNotEndWithTheStoreOfAServerThatLosesIt() throws Exception {
    var heard = new LinkedBlockingQueue<String>();
    var listener =
        new KeyListener<String>() {
          @Override
          public void on(KeyEvent<String> event) {
            heard.add(event.value());
          }

          @Override
          public void ended(StoaException cause) {
            heard.add("ended: " + cause);
          }
        };
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = RunningServers.open(servers.get(1));
          var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        var _ = stoa.store().register("key", listener, new Every());
        var puts = new ArrayList<Future<?>>();
        for (int i = 0; i < 200; i++) {
          String value = "value " + i;
          puts.add(callers.submit(() -> stoa.store().put("key", value)));
        }
        var _ = servers.stopLeader(0);
        for (var put : puts) put.get();
        stoa.store().put("key", "last");
        var told = new TreeSet<String>();
        for (String event = heard.take(); !event.equals("last"); event = heard.take()) {
          assertTrue(event.startsWith("value"), event);
          told.add(event);
        }
        assertEquals(200, told.size());
      }
    }
  }

  @Test
  void aServerThatIsDrainedIsOutAndTheOthersGoOn() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = RunningServers.open(servers.first())) {
        Counter counter = stoa.get(Counter.class, "drained");
        assertEquals(1, counter.increment());
        for (String name : List.of("a", "b")) {
          ClusterServer gone = servers.removeFirst();
          assertEquals(name, gone.name());
          assertEquals("", servers.drain(servers.last(), name));
          gone.close();
          counter.increment();
        }
        assertEquals(3, counter.value());
        String refusal = servers.drain(servers.last(), "c");
        assertTrue(refusal.contains("last one"), refusal);
        // What a server tells of the others is of a moment ago.
        while (servers.status().getServersCount() != 1) Thread.onSpinWait();
        assertEquals("leads", servers.status().getRole());
      }
    }
  }

  @Tag("long")
  @Test
  void groupsAreSpreadAndServersComeAndGoWhileClientsWork() throws Exception {
    try (var servers = new RunningServers(directory, 3, 3)) {
      servers.start("a", "b", "c");
      var ends = new ArrayList<Future<Long>>();
      try (Stoa stoa = RunningServers.open(servers.last());
          var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        var enough = new AtomicBoolean();
        try {
          for (int i = 0; i < 3; i++) {
            Tally tally = stoa.get(Tally.class, "t" + i);
            ends.add(callers.submit(() -> count(tally, enough)));
          }
          servers.start("d", "e");
          // One of them is asked for the drain, and leads group 0 maybe.
          for (String name : List.of("a", "b")) {
            ClusterServer gone = servers.removeFirst();
            assertEquals(name, gone.name());
            assertEquals("", servers.drain(gone, name));
            assertNull(gone.awaitClosed());
            servers.settle();
          }
        } finally {
          enough.set(true);
        }
        for (int i = 0; i < 3; i++) {
          assertEquals(ends.get(i).get(), stoa.get(Tally.class, "t" + i).value());
        }
      }
    }
  }

  private static long count(Tally tally, AtomicBoolean enough) {
    long made = 0;
    while (!enough.get()) {
      made++;
      if (tally.increment() != made) throw new AssertionError("not exactly once");
    }
    return made;
  }

  @Test
  void aServerThatIsDrainedWhileNobodyReachesItEndsWhenTheyDo() throws Exception {
    try (var servers = new RunningServers(directory, 2, 3)) {
      servers.start("a", "b", "c", "d");
      int leader = RunningServers.leader(servers.last(), 0);
      ClusterServer gone = servers.otherThan(leader);
      String name = gone.name();
      servers.cutOff(name, true);
      assertEquals("", servers.drain(servers.withPort(leader), name));
      servers.cutOff(name, false);
      assertNull(gone.awaitClosed());
      for (int group = 0; group < 2; group++) {
        assertTrue(Files.notExists(ServerDirectory.replica(directory.resolve(name), group)));
      }
    }
  }

  @Test
  void othersGetTheReplicasOfAServerThatIsSilentForTooLong() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.replaceAfter(ClusterOptions.AWAY_AFTER.plusMillis(500));
      servers.start("a", "b", "c", "d");
      try (Stoa stoa = RunningServers.open(servers.last())) {
        Tally tally = stoa.get(Tally.class, "kept");
        assertEquals(1, tally.increment());
        List<String> members =
            Stream.of("a", "b", "c", "d").filter(name -> servers.has(name, 0)).toList();
        assertEquals(3, members.size());
        String spare =
            Stream.of("a", "b", "c", "d").filter(name -> !members.contains(name)).findAny().get();
        servers.stop(members.getFirst());
        while (!servers.has(spare, 0)) servers.awaitNext();
        assertEquals(2, tally.increment());
      }
    }
  }

  @Test
  void aBlobOutlivesTheServersThatHaveIt() throws Exception {
    byte[] film = new byte[5 << 20];
    new SplittableRandom(5).nextBytes(film);
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = RunningServers.open(servers.first());
          var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Blob blob = stoa.get(Blob.class, "film");
        assertEquals(1, again(() -> copied(blob, film)));
        BlobSnapshot first = again(blob::snapshot);
        var over = new AtomicBoolean();
        var written = new CountDownLatch(20);
        var writers = new ArrayList<Future<byte[]>>();
        for (int i = 0; i < 3; i++) {
          long at = 1000L * i;
          writers.add(threads.submit(() -> write(blob, at, over, written)));
        }
        try {
          assertTrue(written.await(60, TimeUnit.SECONDS));
          servers.removeFirst().close();
          long version = again(blob::version);
          while (again(blob::version) < version + 30) Thread.onSpinWait();
        } finally {
          over.set(true);
        }
        byte[] found = again(() -> blob.read(0, film.length));
        for (int i = 0; i < 3; i++) {
          byte[] last = writers.get(i).get(60, TimeUnit.SECONDS);
          long at = 1000L * i;
          byte[] there = again(() -> blob.read(at, 3));
          assertTrue(there[0] == last[0] || there[0] == last[1], there[0] + " is not the last");
          assertTrue(there[0] == there[1] && there[1] == there[2], "a write is whole");
          System.arraycopy(film, 1000 * i, found, 1000 * i, 3);
        }
        assertArrayEquals(film, found);
        assertArrayEquals(film, again(() -> first.read(0, film.length)));
        assertArrayEquals(film, again(() -> blob.at(1).read(0, film.length)));
      }
    }
  }

  private static long copied(Blob blob, byte[] film) {
    try {
      return blob.copyFrom(new ByteArrayInputStream(film));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /// Asks until an answer comes: what was begun at a leader ends with it, and may begin again.
  private static <T> T again(Supplier<T> question) {
    while (true) {
      try {
        return question.get();
      } catch (Unavailable led) {
        Thread.onSpinWait();
      }
    }
  }

  /// Writes one place, and answers what was acknowledged there last, and what may be there.
  private static byte[] write(Blob blob, long at, AtomicBoolean over, CountDownLatch written) {
    var last = new byte[2];
    for (byte n = 1; !over.get(); n = (byte) (n % 100 + 1)) {
      last[1] = n;
      try {
        blob.write(at, new byte[] {n, n, n});
        last[0] = n;
        written.countDown();
      } catch (Unavailable | UnknownOutcome led) {
        // By another one from now on.
      }
    }
    return last;
  }
}
