package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.CallFailed;
import stoa.Keep;
import stoa.LogAddress;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.past.Past;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

class RetentionTest {
  private static final Existence ANY = new Existence.Any(null);
  private static final int PADDING = 3_000;

  private final MemoryDisk disk = new MemoryDisk(256 << 20);
  private final AtomicLong micros = new AtomicLong(1_000_000);
  private final Cells cells = new Cells();
  private Device device = openDevice();
  private Store store = openStore();

  private Device openDevice() {
    var config = new DeviceConfig(256 << 10).withMemtableBytesMax(16 << 10);
    return Device.open(disk, config, Runnable::run);
  }

  private Store openStore() {
    var config =
        new StoreConfig(Duration.ofSeconds(10), 1_000, 64 << 20, 16, Duration.ofSeconds(5));
    var made =
        new Store(config, new LocalBatchLog(device), micros::get, new Untimed(Threads.real()));
    made.register("cell", cells);
    return made;
  }

  private void reopen() {
    store.close();
    device = openDevice();
    store = openStore();
  }

  /// Cells that keep the last text put to them; `call CELL TEXT` puts a text to another cell and
  /// then waits for the latch. Text behind a blank line is padding.
  private static final class Cells implements HandlerFactory {
    private volatile CountDownLatch called = new CountDownLatch(0);
    private volatile CountDownLatch mayEnd = new CountDownLatch(0);

    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return new Cell("", 0);
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      String[] words = Script.text(checkpoint).split(" ", 2);
      return new Cell(words[1], Long.parseLong(words[0]));
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new Script.Said(cause.getClass().getSimpleName());
    }

    private final class Cell implements Handler {
      private String value;
      private long puts;

      Cell(String value, long puts) {
        this.value = value;
        this.puts = puts;
      }

      @Override
      public Answer put(byte[] bytes, Execution execution) {
        puts++;
        String text = Script.text(bytes);
        value = text.substring(0, Math.max(0, text.indexOf('\n')));
        if (value.equals("fail")) throw new StackOverflowError("as asked");
        if (value.startsWith("call ")) {
          String[] words = value.split(" ", 3);
          execution.put(key(words[1]), padded(words[2]), ANY);
          called.countDown();
          try {
            mayEnd.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        }
        return new Script.Said(value);
      }

      @Override
      public Answer get(@Nullable Object query, Execution execution) {
        if (query instanceof Key other) {
          return new Script.Said(Script.text(execution.get(other, "value", ANY)));
        }
        return new Script.Said("puts".equals(query) ? Long.toString(puts) : value);
      }

      @Override
      public byte[] checkpoint() {
        return (puts + " " + value).getBytes(StandardCharsets.UTF_8);
      }
    }
  }

  private static Key key(String name) {
    return Key.of("cell", name);
  }

  private static byte[] padded(String text) {
    return Script.bytes(text + "\n" + "x".repeat(PADDING));
  }

  private void put(String name, String text) {
    store
        .put(store.target(key(name)), Put.of(padded(text)), Terms.expecting(ANY).at(Pace.SHORT))
        .answer();
  }

  /// Puts the numbers of the versions.
  private void fill(String name, int from, int to) {
    for (int i = from; i <= to; i++) put(name, "v" + i);
  }

  private String get(String name) {
    var request = store.get(store.target(key(name)), "value", Terms.expecting(ANY).at(Pace.SHORT));
    return Script.text(request.answer().encoded());
  }

  private String past(String name, long version) {
    return Script.text(store.past(key(name), version).get("value", ANY, Pace.SHORT).encoded());
  }

  private void assertTooOld(String name, long version) {
    var told = assertThrows(TooOld.class, () -> past(name, version));
    assertEquals(version, told.version());
    assertEquals(store.oldest(key(name)), told.oldest());
    assertTrue(String.valueOf(told.getMessage()).contains(name), told.getMessage());
    assertThrows(TooOld.class, () -> store.events(key(name), version, version + 1));
  }

  private long entries(String name) {
    var count = new AtomicLong();
    var stream = key(name).stream();
    store.engine().streams().scan(stream, 1, Long.MAX_VALUE, entry -> count.incrementAndGet() > 0);
    return count.get();
  }

  private long used() throws IOException {
    long used = 0;
    for (var name : disk.list()) {
      try (var file = disk.open(name)) {
        used += file.size();
      }
    }
    return used;
  }

  private void maintain() {
    device.sync();
    while (device.maintain()) {
      // One step each.
    }
  }

  @Test
  void whatIsTrimmedIsTooOldAndTheRestIsAsItWas() {
    fill("c", 1, 200);
    assertEquals(0, store.oldest(key("c")));
    assertEquals(150, store.trim(key("c"), 150));
    assertEquals(150, store.oldest(key("c")));
    assertTooOld("c", 0);
    assertTooOld("c", 149);
    for (int version = 150; version <= 200; version++) {
      assertEquals("v" + version, past("c", version));
    }
    assertEquals(51, store.events(key("c"), 150, 200).size());
    assertTrue(entries("c") < 80, entries("c") + " entries are left");
    assertEquals("v200", get("c"));
    assertEquals(150, store.trim(key("c"), 10), "never back");
    reopen();
    assertTooOld("c", 149);
    assertEquals("v150", past("c", 150));
    assertEquals("v200", get("c"));
    fill("c", 201, 230);
    assertEquals(230, store.trim(key("c"), 230));
    assertEquals("v230", past("c", 230));
    assertEquals("v230", get("c"));
    reopen();
    assertEquals("v230", get("c"));
  }

  @Test
  void aTrimIsRefusedThatIsNoVersion() {
    fill("c", 1, 3);
    assertThrows(IllegalArgumentException.class, () -> store.trim(key("c"), 4));
    assertThrows(IllegalArgumentException.class, () -> store.trim(key("c"), -1));
    assertEquals(0, store.trim(key("c"), 0));
  }

  @Test
  void whatIsPinnedStaysUntilThePinIsClosed() {
    fill("c", 1, 100);
    long counter = store.events(key("c"), 60, 60).getFirst().entry().log().counter();
    try (var pin = store.pins().pin(counter)) {
      assertEquals(60, store.trim(key("c"), 90));
      assertEquals("v60", past("c", 60));
      assertEquals(counter, pin.counter());
    }
    assertEquals(90, store.trim(key("c"), 90));
    assertTooOld("c", 60);
  }

  @Test
  void aTransactionReadsWhatWasThereWhenItBegan() {
    fill("c", 1, 100);
    var bounds =
        new StoreTransaction.Bounds(
            StoreTransaction.Access.READS, Duration.ofHours(1).toNanos() / 1000, 10, 1 << 20);
    try (var transaction = store.begin(bounds)) {
      fill("c", 101, 300);
      assertEquals(100, store.trim(key("c"), 300));
      var answer = transaction.get(store.target(key("c")), "value", ANY, Pace.SHORT);
      assertEquals("v100", Script.text(answer.encoded()));
    }
    assertEquals(300, store.trim(key("c"), 300));
  }

  @Test
  void whoFollowsAKeyMissesNothingThatWasReleasedMeanwhile() {
    var follower = store.follow(store.target(key("c")));
    fill("c", 1, 10);
    assertEquals("10", Script.text(follower.now("puts", ANY).answer().encoded()));
    fill("c", 11, 200);
    assertEquals(190, store.trim(key("c"), 190));
    assertEquals("200", Script.text(follower.now("puts", ANY).answer().encoded()));
    assertEquals("200", Script.text(follower.seen("puts", ANY).answer().encoded()));
    fill("c", 201, 220);
    assertEquals("220", Script.text(follower.now("puts", ANY).answer().encoded()));
  }

  @Test
  void aViewOfThePastIsTooOldOnceThatIsReleased() {
    fill("c", 1, 100);
    Past then = store.past(key("c"), 50);
    Past at = store.at(key("c"), store.events(key("c"), 50, 50).getFirst().entry().log().counter());
    Past read = store.past(key("c"), 60);
    assertEquals("60", Script.text(read.get("puts", ANY, Pace.SHORT).encoded()));
    assertEquals(90, store.trim(key("c"), 90));
    assertThrows(TooOld.class, () -> then.get("puts", ANY, Pace.SHORT));
    assertThrows(TooOld.class, () -> then.get("puts", ANY, Pace.LONG));
    assertThrows(TooOld.class, () -> at.get("puts", ANY, Pace.LONG));
    assertThrows(TooOld.class, at::position);
    assertThrows(TooOld.class, () -> read.get("puts", ANY, Pace.LONG));
    for (int version = 90; version <= 100; version++) {
      var answer = store.past(key("c"), version).get("puts", ANY, Pace.LONG);
      assertEquals(version, Long.parseLong(Script.text(answer.encoded())));
    }
  }

  @Test
  void readersBesideReleasesSeeAWholeStateOrNone() throws Exception {
    store.keep(Keep.versions(20));
    fill("c", 1, 10);
    var end = new AtomicLong();
    var failures = new ConcurrentLinkedQueue<Throwable>();
    var reads = new AtomicLong();
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 3; i++) {
      int seed = i;
      threads.add(
          new Thread(() -> {
            try {
              readUntil(end, seed, reads);
            } catch (RuntimeException | Error failure) {
              failures.add(failure);
            }
          }));
    }
    threads.forEach(Thread::start);
    fill("c", 11, 3_000);
    end.set(1);
    for (var thread : threads) thread.join();
    assertEquals(List.of(), List.copyOf(failures));
    assertTrue(reads.get() > 0);
    assertTrue(store.oldest(key("c")) > 2_000, "much was released");
  }

  private void readUntil(AtomicLong end, int seed, AtomicLong reads) {
    var random = new SplittableRandom(seed);
    var follower = store.follow(store.target(key("c")));
    long followed = 0;
    while (end.get() == 0) {
      long now = Long.parseLong(Script.text(follower.now("puts", ANY).answer().encoded()));
      assertTrue(now >= followed, now + " puts behind " + followed);
      followed = now;
      long version = Math.max(1, store.position(key("c")) - random.nextInt(150));
      try {
        var answer =
            store
                .past(key("c"), version)
                .get("puts", ANY, random.nextBoolean() ? Pace.SHORT : Pace.LONG);
        assertEquals(version, Long.parseLong(Script.text(answer.encoded())));
        reads.incrementAndGet();
      } catch (TooOld told) {
        assertTrue(version < told.oldest(), told.toString());
      }
    }
  }

  @Test
  void aTransactionOverItsTimeHoldsNothing() {
    fill("c", 1, 100);
    var bounds = new StoreTransaction.Bounds(StoreTransaction.Access.READS, 1_000, 10, 1 << 20);
    try (var _ = store.begin(bounds)) {
      fill("c", 101, 110);
      micros.addAndGet(1_001);
      assertEquals(110, store.trim(key("c"), 110));
      assertEquals(0, store.pins().count());
    }
  }

  @Test
  void aTransactionInThePastIsTold() {
    fill("c", 1, 100);
    LogAddress at = store.events(key("c"), 50, 50).getFirst().entry().log();
    store.trim(key("c"), 70);
    var bounds =
        new StoreTransaction.Bounds(StoreTransaction.Access.READS, Long.MAX_VALUE, 10, 1 << 20);
    try (var transaction = store.begin(bounds, at)) {
      assertThrows(
          TooOld.class, () -> transaction.get(store.target(key("c")), "value", ANY, Pace.SHORT));
    }
  }

  @Test
  void thePastOfAKeyThatAsksAReleasedOneIsTold() {
    fill("c", 1, 50);
    fill("asks", 1, 1);
    fill("c", 51, 100);
    assertEquals("v50", asked());
    store.trim(key("c"), 80);
    assertThrows(TooOld.class, this::asked);
  }

  private String asked() {
    return Script.text(store.past(key("asks"), 1).get(key("c"), ANY, Pace.SHORT).encoded());
  }

  @Test
  void whatACallUnderWayHasPutStays() throws Exception {
    fill("c", 1, 100);
    cells.called = new CountDownLatch(1);
    cells.mayEnd = new CountDownLatch(1);
    var caller =
        store.putAsync(store.target(key("a")), Put.of(padded("call c v101")), Terms.expecting(ANY));
    cells.called.await();
    fill("c", 102, 200);
    assertEquals(100, store.trim(key("c"), 200));
    cells.mayEnd.countDown();
    while (!caller.isDone()) Thread.onSpinWait();
    fill("a", 2, 2); // behind the answer of the call, which is then in the log
    assertEquals(200, store.trim(key("c"), 200));
  }

  @Test
  void byVersionsAStoreKeepsTheLastOnesAndTakesBoundedRoom() throws IOException {
    store.keep(Keep.versions(50));
    for (int round = 0; round < 20; round++) {
      fill("c", 100 * round + 1, 100 * round + 100);
      if (round % 7 == 6) {
        reopen();
        store.keep(Keep.versions(50));
      }
      maintain();
      assertTrue(used() < 3 << 20, used() + " in round " + round);
    }
    long oldest = store.oldest(key("c"));
    assertTrue(oldest <= 1950 && oldest > 1850, "the oldest is " + oldest);
    for (long version = oldest; version <= 2000; version++) {
      assertEquals("v" + version, past("c", version));
    }
    assertTooOld("c", oldest - 1);
    reopen();
    assertEquals("v2000", get("c"));
    assertEquals("v1960", past("c", 1960));
  }

  @Test
  void aBeginningThatWasTakenBackStaysWithItsVerdict() {
    assertThrows(CallFailed.class, () -> put("c", "fail"));
    fill("c", 3, 3);
    var verdict = store.events(key("c"), 2, 2).getFirst().entry();
    assertEquals(Records.VERDICT, verdict.kind());
    assertEquals(1, store.trim(key("c"), 2));
    assertEquals("", past("c", 2));
    long counter = verdict.log().counter();
    assertEquals(1, store.at(key("c"), counter).position());
    assertEquals(3, store.trim(key("c"), 3));
    assertEquals("v3", past("c", 3));
    assertThrows(TooOld.class, () -> store.at(key("c"), counter).position());
  }

  @Test
  void everythingIsKeptUnlessSomebodySaysOtherwise() {
    fill("c", 1, 300);
    store.delete(store.target(key("c")), Terms.expecting(ANY));
    assertEquals(0, store.oldest(key("c")));
    assertEquals("v1", past("c", 1));
  }

  @Test
  void byAgeAStoreKeepsWhatWasSeenSince() {
    store.keep(Keep.age(Duration.ofSeconds(10)));
    for (int i = 1; i <= 400; i++) {
      micros.addAndGet(100_000);
      put("c", "v" + i);
    }
    long oldest = store.oldest(key("c"));
    assertTrue(oldest <= 300 && oldest > 200, "the oldest is " + oldest);
    assertEquals("v" + oldest, past("c", oldest));
  }

  @Test
  void byAgeATransactionCountsFromItsCommitOn() {
    store.keep(Keep.age(Duration.ofSeconds(10)));
    put("c", "v1");
    var bounds =
        new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 100_000_000, 10, 64 << 20);
    try (StoreTransaction transaction = store.begin(bounds)) {
      for (int i = 2; i <= 300; i++) {
        transaction.put(store.target(key("c")), padded("v" + i), ANY, Pace.SHORT);
      }
      micros.addAndGet(20_000_000);
      transaction.commit();
    }
    micros.addAndGet(5_000_000);
    fill("c", 301, 600);
    assertEquals("v1", past("c", 1));
  }

  @Test
  void thePastOfADeletedKeyGoes() {
    store.keep(Keep.versions(1_000));
    for (int i = 0; i < 50; i++) {
      fill("c" + i, 1, 5);
      store.delete(store.target(key("c" + i)), Terms.expecting(ANY));
    }
    fill("d", 1, 5);
    store.delete(store.target(key("d")), Terms.expecting(ANY)); // at the latest with the next one
    for (int i = 0; i < 50; i++) assertEquals(1, entries("c" + i));
    assertTooOld("c0", 5);
    assertEquals("", past("c0", 6));
    fill("c0", 7, 7);
    assertEquals("v7", get("c0"));
    reopen();
    assertEquals("v7", get("c0"));
    assertThrows(stoa.AlreadyExists.class, () -> create("c0"));
    create("c1");
  }

  @Test
  void aKeyThatIsTrimmedAndDeletedLeavesItsDeletionAlone() {
    for (int i = 0; i < 50; i++) {
      fill("c" + i, 1, 5);
      assertEquals(5, store.trim(key("c" + i), 5));
      assertEquals("v5", past("c" + i, 5));
      delete("c" + i);
    }
    long deletion = store.position(key("c0")); // behind the checkpoint that the trim has logged
    assertEquals(7, deletion);
    for (int i = 0; i < 50; i++) {
      assertEquals(1, entries("c" + i));
      assertTooOld("c" + i, 5);
      assertEquals("", past("c" + i, deletion));
    }
    reopen();
    assertEquals(1, entries("c0"));
    assertEquals("", past("c0", deletion));
    create("c0");
    assertThrows(stoa.AlreadyExists.class, () -> create("c0"));
  }

  @Test
  void aKeyThatWasChangedSinceItsTrimKeepsItsVersionsWhenItIsDeleted() {
    fill("c", 1, 5);
    assertEquals(5, store.trim(key("c"), 5));
    fill("c", 7, 8); // behind the checkpoint that the trim has logged
    delete("c");
    assertEquals(5, store.oldest(key("c")));
    for (int version : new int[] {5, 7, 8}) assertEquals("v" + version, past("c", version));
    assertEquals(9, store.trim(key("c"), 9));
    assertEquals(1, entries("c"));
  }

  @Test
  void aKeyThatIsTrimmedToItsLastVersionKeepsItsStateAlone() throws IOException {
    // All less than the bytes after which a checkpoint follows by itself.
    for (int i = 0; i < 200; i++) fill("c" + i, 1, 20);
    maintain();
    long before = used();
    for (int i = 0; i < 200; i++) {
      Key key = key("c" + i);
      assertEquals(20, store.trim(key, 20));
      assertEquals(2, entries("c" + i)); // the last put, and that a checkpoint follows
      assertEquals(20, store.position(key));
      assertEquals("v20", get("c" + i));
      assertEquals("v20", past("c" + i, 20));
      assertEquals(List.of(20L), versions(key));
      assertEquals(20, store.trim(key, 20));
      assertEquals(2, entries("c" + i));
    }
    maintain();
    assertTrue(used() < before / 8, used() + " bytes of " + before);
    reopen();
    fill("c0", 22, 23);
    for (int i = 0; i < 200; i++) {
      assertEquals(i == 0 ? "v23" : "v20", get("c" + i));
      var puts = store.get(store.target(key("c" + i)), "puts", Terms.expecting(ANY).at(Pace.SHORT));
      assertEquals(i == 0 ? "22" : "20", Script.text(puts.answer().encoded()));
      assertTooOld("c" + i, 19);
    }
    assertEquals(List.of(20L, 22L, 23L), versions(key("c0")));
    assertEquals("v20", past("c0", 20));
    reopen();
    assertEquals("v23", get("c0"));
    assertEquals("v22", past("c0", 22));
    assertEquals(22, store.trim(key("c0"), 22)); // an older one: the entries behind it are needed
    assertEquals("v22", past("c0", 22));
    assertEquals("v23", get("c0"));
  }

  private List<Long> versions(Key key) {
    return store.events(key, store.oldest(key), Long.MAX_VALUE).stream()
        .map(event -> event.entry().address())
        .toList();
  }

  @Test
  void aTransactionRunsAgainWhenItsStateWasMadeAnewByALoggedCheckpoint() {
    fill("c", 1, 5);
    var bounds =
        new StoreTransaction.Bounds(
            StoreTransaction.Access.WRITES, Duration.ofHours(1).toNanos() / 1000, 10, 1 << 20);
    StoreTransaction transaction = store.begin(bounds);
    try {
      var _ = transaction.put(store.target(key("c")), padded("own"), ANY, Pace.SHORT);
      assertEquals(5, store.trim(key("c"), 5));
      assertThrows(stoa.Aborted.class, transaction::commit);
    } finally {
      transaction.close();
    }
    assertEquals("v5", get("c"));
  }

  @Test
  void aPinHoldsWhatWasTrimmedAndDeletedUntilItIsClosed() {
    fill("c", 1, 5);
    long counter = store.events(key("c"), 5, 5).getFirst().entry().log().counter();
    try (var pin = store.pins().pin(counter)) {
      assertEquals(5, store.trim(key("c"), 5));
      delete("c");
      assertEquals("v5", Script.text(stateAt("c", pin.counter())));
    }
    fill("d", 1, 1);
    store.trim(key("d"), 1);
    delete("d");
    assertEquals(1, entries("c"));
    assertEquals(1, entries("d"));
    assertTooOld("c", 5);
  }

  private byte[] stateAt(String name, long counter) {
    return store.at(key(name), counter).get("value", ANY, Pace.SHORT).encoded();
  }

  @Test
  void whatWasHeldAtADeletionGoesWithoutAnyFurtherCall() {
    store.close();
    device = openDevice();
    var config =
        new StoreConfig(Duration.ofSeconds(10), 1_000, 64 << 20, 16, Duration.ofSeconds(5));
    store = new Store(config, new LocalBatchLog(device), micros::get, Threads.real());
    store.register("cell", cells);
    fill("c", 1, 5);
    long counter = store.events(key("c"), 5, 5).getFirst().entry().log().counter();
    try (var _ = store.pins().pin(counter)) {
      assertEquals(5, store.trim(key("c"), 5));
      delete("c");
      assertEquals(3, entries("c")); // the last put, a checkpoint, the deletion
    }
    while (entries("c") > 1) Thread.onSpinWait();
    assertTooOld("c", 5);
  }

  private void delete(String name) {
    store.delete(store.target(key(name)), Terms.expecting(ANY));
  }

  private void create(String name) {
    var absent = new Existence.Absent(null);
    store
        .put(store.target(key(name)), Put.of(padded("new")), Terms.expecting(absent).at(Pace.SHORT))
        .answer();
  }

  @Test
  void thePastOfADeletedKeyGoesWhenItIsOldEnough() {
    store.keep(Keep.age(Duration.ofSeconds(10)));
    fill("c", 1, 5);
    store.delete(store.target(key("c")), Terms.expecting(ANY));
    fill("d", 1, 5);
    store.delete(store.target(key("d")), Terms.expecting(ANY));
    assertEquals("v5", past("c", 5));
    micros.addAndGet(11_000_000);
    fill("e", 1, 5);
    store.delete(store.target(key("e")), Terms.expecting(ANY));
    assertTooOld("c", 5);
    assertTooOld("d", 5);
    assertEquals("v5", past("e", 5));
  }

  @Test
  void theLogIsReleasedToo() {
    store.keep(Keep.age(Duration.ofSeconds(1)));
    for (int i = 1; i <= 3_000; i++) {
      micros.addAndGet(10_000);
      put("c", "v" + i);
    }
    long first = store.engine().streams().firstInLog();
    assertTrue(first > 1_000, "the log begins at " + first);
    assertThrows(TooOld.class, () -> store.engine().streams().at(first - 1));
    var kept = store.engine().streams().at(first);
    assertEquals(List.of(key("c").stream()), kept == null ? List.of() : streams(kept.places()));
    reopen();
    assertEquals(first, store.engine().streams().firstInLog());
    fill("c", 3_001, 3_002);
    assertEquals("v3002", get("c"));
  }

  private static List<StreamId> streams(List<stoa.log.Streams.Place> places) {
    return places.stream().map(stoa.log.Streams.Place::stream).toList();
  }
}
