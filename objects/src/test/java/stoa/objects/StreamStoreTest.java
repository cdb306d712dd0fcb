package stoa.objects;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Appended;
import stoa.Closed;
import stoa.Follower;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.TooOld;
import stoa.base.StreamId;

class StreamStoreTest {
  private static final StreamKey ALICE = StreamKey.of("alice");
  private static final StreamKey NANCY = StreamKey.of("nancy");

  @Shared(name = "streams.Counter")
  static class Counter {
    private int value;

    public int add(int by) {
      value += by;
      return value;
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(StreamEntry entry) {
    return new String(entry.data(), UTF_8);
  }

  private static List<String> texts(List<StreamEntry> entries) {
    return entries.stream().map(StreamStoreTest::text).toList();
  }

  private static List<String> all(StreamStore streams, StreamKey stream) {
    return texts(streams.readAll(stream));
  }

  private static List<LogSlot.Written> log(StreamStore streams) {
    var found = new ArrayList<LogSlot.Written>();
    streams.scan(StreamStore.BEGINNING, streams.tail(), found::add);
    return found;
  }

  /// The next of a log that holds data: a store, and a server more so, has entries of its own
  /// there.
  private static LogSlot.Written nextData(Follower<LogSlot.Written> log)
      throws InterruptedException {
    while (true) {
      LogSlot.Written next = log.next();
      if (isData(next)) return next;
    }
  }

  private static boolean isData(LogSlot.Written slot) {
    return slot.entries().getFirst().kind() == StreamEntry.Kind.DATA;
  }

  private static void assertNoMoreData(Follower<LogSlot.Written> log) throws InterruptedException {
    for (var more = log.next(Duration.ofMillis(1));
        more.isPresent();
        more = log.next(Duration.ofMillis(1))) {
      assertFalse(isData(more.get()), more::toString);
    }
  }

  private static LogAddress after(LogAddress address, long count) {
    return new LogAddress(address.epoch(), address.counter() + count);
  }

  /// Whether each store is kept in several groups. These share one order: a group takes many
  /// addresses at a time, and leaves holes.
  private static final boolean GROUPED = Integer.getInteger("stoa.test.groups", 1) > 1;

  private static void assertFollows(LogAddress before, LogAddress next) {
    if (GROUPED) assertTrue(next.compareTo(before) > 0, before + ", and then " + next);
    else assertEquals(after(before, 1), next);
  }

  private static void assertLast(LogAddress appended, LogAddress tail) {
    if (GROUPED) assertTrue(appended.compareTo(tail) <= 0, appended + " before " + tail);
    else assertEquals(appended, tail);
  }

  private static Counter counter(Stoa stoa, String name) {
    return stoa.get(Counter.class, name);
  }

  /// Figure 1 of the vCorfu paper: one log, in which each user's last login must be looked for, and
  /// the same entries as streams, in which it is where one looks.
  @Test
  void readsTheLastLoginOfAliceWithoutThoseOfNancy() {
    try (Stoa stoa = Stoa.open("memory:")) {
      StreamStore streams = stoa.streams();
      Appended first = streams.append(ALICE, bytes("6am"));
      streams.append(NANCY, bytes("8am"));
      streams.append(NANCY, bytes("3pm"));
      Appended last = streams.append(ALICE, bytes("6pm"));

      // The global log has them all, in the order in which they came.
      var log = new ArrayList<String>();
      streams.scan(
          first.log(),
          last.log(),
          slot -> {
            if (!isData(slot)) return true;
            StreamEntry entry = slot.entries().getFirst();
            return log.add((entry.stream().equals(ALICE) ? "alice " : "nancy ") + text(entry));
          });
      assertEquals(List.of("alice 6am", "nancy 8am", "nancy 3pm", "alice 6pm"), log);
      if (!GROUPED) assertEquals(after(first.log(), 3), last.log());

      // Each stream has its own, at dense addresses: the last login is one read away.
      assertEquals(2, streams.check(ALICE));
      assertEquals("6pm", text(streams.read(ALICE, streams.check(ALICE)).orElseThrow()));
      assertEquals(List.of("8am", "3pm"), all(streams, NANCY));

      // Both users are logged out at once: one log address, an address in each stream.
      Appended both = streams.append(Map.of(ALICE, bytes("out"), NANCY, bytes("out")));
      assertEquals(3, both.address(ALICE));
      assertEquals(3, both.address(NANCY));
      assertFollows(last.log(), both.log());
      var slot = assertInstanceOf(LogSlot.Written.class, streams.read(both.log()));
      assertEquals(List.of("out", "out"), texts(slot.entries()));
    }
  }

  @Test
  void makesTheStandardKeyOfAName() {
    // The first digits that `printf logins | sha256sum` prints.
    assertEquals("4b2e43ecdce1491a2a7750590730076c", StreamKey.of("logins").toString());
    var key = StreamKey.of("ключ");
    assertEquals(key, StreamKey.parse(key.toString()));
    assertTrue(new StreamKey(-1, 0).compareTo(new StreamKey(1, 0)) > 0);
    assertThrows(IllegalArgumentException.class, () -> StreamKey.of("stoa/log"));
    assertThrows(IllegalArgumentException.class, () -> StreamKey.of(""));
    assertThrows(IllegalArgumentException.class, () -> StreamKey.parse("12"));
  }

  @Test
  void readsByStreamAddress() {
    try (Stoa stoa = Stoa.open("memory:")) {
      StreamStore streams = stoa.streams();
      assertEquals(0, streams.check(ALICE));
      assertEquals(0, streams.oldest(ALICE));
      assertEquals(List.of(), streams.readAll(ALICE));
      assertEquals(Optional.empty(), streams.read(ALICE, 1));
      List<Appended> given =
          streams.appendAll(
              ALICE, IntStream.range(1, 10_001).mapToObj(i -> bytes("e" + i)).toList());
      assertEquals(10_000, streams.check(ALICE));
      assertEquals(1, streams.oldest(ALICE));
      for (int i = 0; i < given.size(); i++) assertEquals(i + 1, given.get(i).address());
      StreamEntry entry = streams.read(ALICE, 7_000).orElseThrow();
      assertEquals("e7000", text(entry));
      assertEquals(given.get(6_999).log(), entry.log());
      assertEquals(StreamEntry.Kind.DATA, entry.kind());
      assertEquals(ALICE, entry.stream());
      assertEquals(
          List.of("e3", "e1", "e9999"),
          texts(streams.read(ALICE, List.of(3L, 1L, 20_000L, 9_999L))));
      assertEquals(List.of("e9999", "e10000"), texts(streams.read(ALICE, 9_999, 30_000)));
      assertEquals(10_000, streams.readAll(ALICE).size());
      assertEquals(List.of(), streams.read(ALICE, 12_000, 30_000));
      assertThrows(IllegalArgumentException.class, () -> streams.read(ALICE, 0));
    }
  }

  @Test
  void tellsHolesFromWhatIsNotYetWritten(@TempDir Path directory) {
    LogAddress first;
    LogAddress end;
    LogAddress never;
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      first = stoa.streams().append(ALICE, bytes("one")).log();
      end = stoa.streams().tail();
      assertLast(first, end);
      if (!GROUPED) {
        assertEquals(
            new LogSlot.NotYetWritten(after(end, 1)), stoa.streams().fillHole(after(end, 1)));
      }
      assertInstanceOf(LogSlot.Written.class, stoa.streams().fillHole(first));
      // Behind what a server still writes when its client leaves.
      never = after(end, GROUPED ? 1L << 30 : 100);
      assertEquals(new LogSlot.NotYetWritten(never), stoa.streams().fillHole(never));
    }
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      StreamStore streams = stoa.streams();
      // The epoch is over: what was not given in it never will be.
      assertEquals(new LogSlot.Hole(never), streams.fillHole(never));
      // The seal that begins the new one takes an address and holds nothing. A server has written
      // behind it that its client is there.
      LogAddress tail = streams.tail();
      LogAddress seal = tail;
      while (streams.read(seal) instanceof LogSlot.Written) seal = after(seal, -1);
      if (!GROUPED) assertEquals(end.epoch() + 1, seal.epoch());
      assertTrue(seal.compareTo(end) > 0);
      assertEquals(new LogSlot.Hole(seal), streams.read(seal));
      LogAddress next = streams.append(ALICE, bytes("two")).log();
      assertFollows(tail, next);
      assertEquals(
          new LogSlot.Hole(new LogAddress(1, next.counter())),
          streams.read(new LogAddress(1, next.counter())));
      var future = new LogAddress(next.epoch() + 1, 1);
      assertEquals(new LogSlot.NotYetWritten(future), streams.read(future));
      List<LogSlot> slots = streams.read(List.of(next, after(next, 1), first));
      assertEquals("two", text(((LogSlot.Written) slots.get(0)).entries().getFirst()));
      if (!GROUPED) assertInstanceOf(LogSlot.NotYetWritten.class, slots.get(1));
      assertEquals("one", text(((LogSlot.Written) slots.get(2)).entries().getFirst()));
      // A range from an address that its epoch never had begins with the next epoch.
      var found = new ArrayList<LogAddress>();
      streams.scan(
          never, streams.tail(), slot -> (GROUPED && !isData(slot)) || found.add(slot.address()));
      if (!GROUPED) assertEquals(after(seal, 1), found.getFirst());
      assertTrue(found.stream().noneMatch(given -> given.compareTo(never) < 0), found::toString);
      assertEquals(next, found.getLast());
    }
  }

  @Test
  void refusesBeforeAnythingIsLogged() {
    var limits = Limits.standard().withCallBytesMax(1_000);
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      StreamStore streams = stoa.streams();
      LogAddress end = streams.append(ALICE, new byte[1_000]).log();
      assertThrows(LimitExceeded.class, () -> streams.append(ALICE, new byte[1_001]));
      assertThrows(
          LimitExceeded.class,
          () -> streams.append(Map.of(ALICE, new byte[600], NANCY, new byte[600])));
      assertThrows(IllegalArgumentException.class, () -> streams.append(Map.of()));
      var many = new TreeMap<StreamKey, byte[]>();
      for (int i = 0; i <= StreamStore.APPEND_STREAMS_MAX; i++) {
        many.put(StreamKey.of("s" + i), new byte[0]);
      }
      assertThrows(LimitExceeded.class, () -> streams.append(many));
      many.pollFirstEntry();
      var logged = new ArrayList<LogSlot.Written>();
      streams.scan(end, streams.tail(), slot -> !isData(slot) || logged.add(slot));
      assertEquals(List.of(end), logged.stream().map(LogSlot.Written::address).toList());
      assertEquals(many.size(), streams.append(many).places().size());
      var refused = streams.appendAsync(ALICE, new byte[1_001]);
      var told = assertThrows(CompletionException.class, refused::join);
      assertInstanceOf(LimitExceeded.class, told.getCause());
    }
  }

  @Test
  void readsTheStreamsOfObjectsAndRefusesToAppendToThem(@TempDir Path directory) {
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      Counter counter = counter(stoa, "a");
      counter.add(1);
      counter.add(2);
      StreamKey stream = stoa.streams().streamOf(stoa.ref(counter));
      List<StreamEntry> entries = stoa.streams().readAll(stream);
      assertEquals(2, entries.size());
      assertEquals(StreamEntry.Kind.OBJECT, entries.getFirst().kind());
      assertEquals(
          stoa.history(counter).entries(1, 2).stream().map(e -> e.address()).toList(),
          entries.stream().map(StreamEntry::log).toList());
      assertThrows(IllegalArgumentException.class, () -> stoa.streams().append(stream, bytes("x")));
      assertEquals(6, counter.add(3));
    }
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      // Nor when nobody has the object in memory.
      StreamKey stream = stoa.streams().streamOf(stoa.ref(counter(stoa, "a")));
      assertEquals(3, stoa.streams().check(stream));
      assertThrows(IllegalArgumentException.class, () -> stoa.streams().append(stream, bytes("x")));
      assertEquals(7, counter(stoa, "a").add(1));
      // And an object is not put where a stream is.
      StreamKey taken = stoa.streams().streamOf(stoa.ref(counter(stoa, "b")));
      stoa.streams().append(taken, bytes("x"));
      assertThrows(IllegalArgumentException.class, () -> counter(stoa, "b").add(1));
      assertEquals(2, stoa.streams().append(taken, bytes("y")).address());
    }
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      assertThrows(IllegalArgumentException.class, () -> counter(stoa, "b").add(1));
    }
  }

  @Test
  void whatIsTrimmedIsTold(@TempDir Path directory) throws Exception {
    List<Appended> given;
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      StreamStore streams = stoa.streams();
      given =
          streams.appendAll(
              ALICE, IntStream.rangeClosed(1, 10).mapToObj(i -> bytes("" + i)).toList());
      LogAddress both = streams.append(Map.of(ALICE, bytes("11"), NANCY, bytes("1"))).log();
      streams.trim(ALICE, 8);
      streams.trim(ALICE, 3);
      checkTrimmed(streams, given);
      // One that was appended together with another stream's is seen as far as it is there.
      streams.trim(ALICE, 100);
      assertEquals(11, streams.check(ALICE));
      assertEquals(11, streams.oldest(ALICE));
      assertEquals(12, streams.append(ALICE, bytes("12")).address());
      streams.trim(ALICE, 12);
      var slot = assertInstanceOf(LogSlot.Written.class, streams.read(both));
      assertEquals(List.of(NANCY), slot.entries().stream().map(StreamEntry::stream).toList());
      try (var follower = streams.follow(ALICE, 3);
          var log = streams.follow(StreamStore.BEGINNING)) {
        assertEquals(12, assertThrows(TooOld.class, follower::next).oldest());
        assertEquals(both, nextData(log).address());
      }
      // The past of an object is trimmed with its history.
      Counter counter = counter(stoa, "a");
      counter.add(1);
      StreamKey object = streams.streamOf(stoa.ref(counter));
      assertThrows(IllegalArgumentException.class, () -> streams.trim(object, 1));
      streams.trim(StreamKey.of("nobody"), 7);
    }
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      assertEquals(List.of("12"), all(stoa.streams(), ALICE));
      assertEquals(List.of("1"), all(stoa.streams(), NANCY));
      assertInstanceOf(LogSlot.Trimmed.class, stoa.streams().read(given.getFirst().log()));
    }
  }

  private static void checkTrimmed(StreamStore streams, List<Appended> given) {
    assertEquals(List.of("8", "9", "10", "11"), all(streams, ALICE));
    assertEquals(8, streams.oldest(ALICE));
    assertEquals(8, assertThrows(TooOld.class, () -> streams.read(ALICE, 7)).oldest());
    assertThrows(TooOld.class, () -> streams.read(ALICE, 7, 9));
    assertEquals(List.of("8", "9"), texts(streams.read(ALICE, 8, 9)));
    LogAddress trimmed = given.get(6).log();
    assertEquals(new LogSlot.Trimmed(trimmed), streams.read(trimmed));
    assertInstanceOf(LogSlot.Written.class, streams.read(given.get(7).log()));
    assertInstanceOf(LogSlot.NotYetWritten.class, streams.read(after(streams.tail(), 1)));
  }

  @Test
  void refusesWhereTheLogItselfIsKept() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var log = StreamId.of("stoa/log");
      var key = new StreamKey(log.high(), log.low());
      assertThrows(IllegalArgumentException.class, () -> stoa.streams().append(key, bytes("x")));
      assertThrows(IllegalArgumentException.class, () -> stoa.streams().readAll(key));
    }
  }

  @Test
  void manyWritersKeepStreamsDenseAndInLogOrder(@TempDir Path directory) throws Exception {
    int writers = 8;
    // An append to streams of several groups is a commit of its own.
    int each = GROUPED ? 60 : 500;
    var given = new ConcurrentHashMap<LogAddress, String>();
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      StreamStore streams = stoa.streams();
      var threads = new ArrayList<Thread>();
      for (int writer = 0; writer < writers; writer++) {
        int number = writer;
        Runnable work =
            () -> {
              var underWay = new ArrayList<CompletableFuture<?>>();
              for (int i = 0; i < each; i++) {
                String data = number + " " + i;
                StreamKey own = StreamKey.of("own " + number);
                StreamKey shared = StreamKey.of("shared " + i % 3);
                var made = streams.appendAsync(Map.of(own, bytes(data), shared, bytes(data)));
                underWay.add(made.thenAccept(at -> given.put(at.log(), data)));
              }
              underWay.forEach(CompletableFuture::join);
            };
        threads.add(
            number % 2 == 0 ? Thread.ofPlatform().start(work) : Thread.ofVirtual().start(work));
      }
      for (Thread thread : threads) thread.join();
      check(streams, given, writers, each);
    }
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      check(stoa.streams(), given, writers, each);
    }
  }

  private static void check(
      StreamStore streams, Map<LogAddress, String> given, int writers, int each) {
    assertEquals(writers * each, given.size());
    for (int writer = 0; writer < writers; writer++) {
      int number = writer;
      assertEquals(
          IntStream.range(0, each).mapToObj(i -> number + " " + i).toList(),
          all(streams, StreamKey.of("own " + writer)));
    }
    int shared = 0;
    for (int i = 0; i < 3; i++) {
      long address = 0;
      var before = StreamStore.BEGINNING;
      for (StreamEntry entry : streams.readAll(StreamKey.of("shared " + i))) {
        assertEquals(++address, entry.address());
        assertTrue(before.compareTo(entry.log()) < 0);
        assertEquals(given.get(entry.log()), text(entry));
        before = entry.log();
        shared++;
      }
    }
    assertEquals(writers * each, shared);
    var found = new TreeMap<LogAddress, String>();
    for (LogSlot.Written slot : log(streams)) {
      if (slot.entries().size() == 2) found.put(slot.address(), text(slot.entries().getLast()));
    }
    assertEquals(new TreeMap<>(given), found);
  }

  @Test
  void followsTheLogAndAStreamAsTheyGrow() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      StreamStore streams = stoa.streams();
      LogAddress first = streams.append(ALICE, bytes("0")).log();
      int count = 2_000;
      try (var log = streams.follow(StreamStore.BEGINNING);
          var alice = streams.follow(ALICE, 2);
          var both = streams.follow(first)) {
        assertEquals("0", text(both.next().entries().getFirst()));
        // The servers of other groups note that the client is there.
        if (!GROUPED) assertEquals(Optional.empty(), both.poll());
        var writer =
            Thread.ofPlatform()
                .start(() -> {
                  for (int i = 1; i < count; i++) {
                    streams.append(i % 2 == 0 ? ALICE : NANCY, bytes("" + i));
                  }
                });
        for (int i = 0; i < count; i++) {
          assertEquals("" + i, text(nextData(log).entries().getFirst()));
        }
        for (int i = 2; i < count; i += 2) {
          StreamEntry entry = alice.next();
          assertEquals("" + i, text(entry));
          assertEquals(i / 2 + 1, entry.address());
        }
        writer.join();
        assertEquals(Optional.empty(), alice.poll());
        assertNoMoreData(log);
        streams.append(ALICE, bytes("last"));
        assertEquals("last", text(alice.next()));
      }
    }
  }

  @Test
  void aFollowerThatWaitsIsToldThatItWasClosed() throws Exception {
    Stoa stoa = Stoa.open("memory:");
    var closing = stoa.streams().follow(after(stoa.streams().tail(), 1));
    var waiting = stoa.streams().follow(ALICE, 1);
    var told = new ArrayList<CompletableFuture<Boolean>>();
    for (var follower : List.of(closing, waiting)) {
      var outcome = new CompletableFuture<Boolean>();
      told.add(outcome);
      Thread.ofVirtual()
          .start(() -> {
            try {
              // The log of a store of several groups has entries of theirs at any time.
              while (follower.next() instanceof LogSlot.Written slot && !isData(slot)) {}
              outcome.complete(false);
            } catch (Closed closed) {
              outcome.complete(true);
            } catch (Throwable other) {
              outcome.completeExceptionally(other);
            }
          });
    }
    closing.close();
    closing.close();
    assertTrue(told.getFirst().get());
    stoa.close();
    assertTrue(told.getLast().get());
    assertThrows(Closed.class, waiting::poll);
    assertThrows(Closed.class, () -> stoa.streams().check(ALICE));
    assertThrows(Closed.class, () -> stoa.streams().append(ALICE, bytes("x")));
  }
}
