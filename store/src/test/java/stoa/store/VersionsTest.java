package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.key;
import static stoa.store.Script.put;
import static stoa.store.Script.text;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.DeadlineExceeded;
import stoa.Gone;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Resident;
import stoa.store.threads.Threads;

class VersionsTest {
  private static final Existence ANY = new Existence.Any(null);

  private final MemoryDisk disk = new MemoryDisk(256 << 20);

  /// Lines that are never changed once they are shared, so that a copy costs nothing; asks other
  /// keys when it is told to.
  private static final class Persistent implements Handler {
    private static final class Factory implements HandlerFactory {
      private final boolean forks;
      private final CountDownLatch gate;

      private Factory(boolean forks, CountDownLatch gate) {
        this.forks = forks;
        this.gate = gate;
      }

      @Override
      public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
        return new Persistent(this, List.of());
      }

      @Override
      public Handler restore(Key key, byte[] checkpoint) {
        return new Persistent(this, text(checkpoint).lines().toList());
      }

      @Override
      public Handler fork(Key key, Handler handler) {
        return new Persistent(this, ((Persistent) handler).lines);
      }

      @Override
      public boolean forksCheaply(Handler handler) {
        return forks;
      }

      @Override
      public Answer failure(RuntimeException cause) {
        return new Script.Said(cause.getClass().getSimpleName());
      }
    }

    private final Factory factory;
    private List<String> lines;
    private boolean asked;

    private Persistent(Factory factory, List<String> lines) {
      this.factory = factory;
      this.lines = lines;
    }

    @Override
    public Answer put(byte[] value, Execution execution) {
      String line = text(value);
      if (line.equals("wait")) {
        try {
          factory.gate.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      var more = new ArrayList<>(lines);
      more.add(line);
      lines = List.copyOf(more);
      return new Script.Said(line);
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      if (asked) throw new IllegalStateException("two ask one instance at once");
      asked = true;
      try {
        String own = String.join(",", lines);
        if (!(query instanceof String text) || !text.startsWith("ask "))
          return new Script.Said(own);
        byte[] other = execution.get(persistent(text.substring(4)), "lines", ANY);
        return new Script.Said(own + "|" + text(other));
      } finally {
        asked = false;
      }
    }

    @Override
    public byte[] checkpoint() {
      return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    }
  }

  private static Key persistent(String name) {
    return Key.of("persistent", name);
  }

  private static Store withPersistent(Store store, boolean forks, CountDownLatch gate) {
    store.register("persistent", new Persistent.Factory(forks, gate));
    return store;
  }

  private static long putPersistent(Store store, String name, String line) {
    store
        .put(
            store.target(persistent(name)),
            Put.of(line.getBytes(StandardCharsets.UTF_8)),
            Terms.expecting(ANY))
        .answer();
    return store.moment();
  }

  private static String then(Store store, Key key, long counter) {
    return text(store.at(key, counter).get("lines", ANY, Pace.LONG).encoded());
  }

  /// What keys were at log counters, told by somebody who wrote it down.
  private static final class Ledger {
    private final Map<String, TreeMap<Long, String>> keys = new TreeMap<>();

    private void note(String name, long counter, String state) {
      keys.computeIfAbsent(name, _ -> new TreeMap<>(Map.of(0L, ""))).put(counter, state);
    }

    private String at(String name, long counter) {
      var states = java.util.Objects.requireNonNull(keys.get(name));
      return states.floorEntry(counter).getValue();
    }
  }

  /// The log counter of the last change of a key.
  private static long changedAt(Store store, String name) {
    var entry = store.engine().streams().read(key(name).stream(), store.position(key(name)));
    return java.util.Objects.requireNonNull(entry).log().counter();
  }

  private Ledger fill(Store store, Random random, int changes) {
    var ledger = new Ledger();
    for (int i = 0; i < changes; i++) {
      String name = "k" + random.nextInt(6);
      String before = ledger.keys.containsKey(name) ? ledger.at(name, Long.MAX_VALUE) : "";
      if (!before.isEmpty() && random.nextInt(12) == 0) {
        store.delete(store.target(key(name)), Terms.expecting(ANY));
        ledger.note(name, changedAt(store, name), "");
      } else if (random.nextInt(9) == 0) {
        // Its answers are in the stream, and are no change.
        put(store, name, "call other x" + i);
        ledger.note(name, changedAt(store, name), Script.lines(store, name));
      } else {
        put(store, name, "x" + i);
        ledger.note(name, changedAt(store, name), before.isEmpty() ? "x" + i : before + ",x" + i);
      }
    }
    return ledger;
  }

  private static void check(Store store, Ledger ledger, Random random, int reads) {
    check(store, ledger, random, reads, store.moment());
  }

  private static void check(Store store, Ledger ledger, Random random, int reads, long moment) {
    for (int i = 0; i < reads; i++) {
      String name = "k" + random.nextInt(6);
      long counter = random.nextLong(moment + 1);
      if (!ledger.keys.containsKey(name)) continue;
      assertEquals(ledger.at(name, counter), then(store, key(name), counter), name + "@" + counter);
    }
  }

  @Test
  void readsEveryKeyAtEveryLogCounterNowAndAfterReopening() {
    var random = new Random(1);
    Ledger ledger;
    try (var store = Script.open(disk)) {
      ledger = fill(store, random, 600);
      check(store, ledger, random, 3_000);
    }
    try (var store = Script.open(disk)) {
      check(store, ledger, random, 3_000);
    }
  }

  @Test
  void readsTheSameWithMemoryForHardlyAVersion() {
    var random = new Random(2);
    try (var store = Script.open(disk, Threads.real(), Duration.ofSeconds(10), 8_000)) {
      Ledger ledger = fill(store, random, 300);
      check(store, ledger, random, 2_000);
      assertTrue(
          store.engine().versions().keptBytes() < 20_000,
          "kept " + store.engine().versions().keptBytes());
    }
  }

  @Test
  void readsTheSameFromManyThreads() throws Exception {
    var random = new Random(3);
    try (var store = Script.open(disk, Threads.real(), Duration.ofSeconds(10), 64_000);
        var threads = Executors.newFixedThreadPool(4)) {
      Ledger ledger = fill(store, random, 300);
      var readers = new ArrayList<Future<?>>();
      long moment = store.moment();
      for (int i = 0; i < 4; i++) {
        var own = new Random(i);
        readers.add(
            threads.submit(() -> {
              check(store, ledger, own, 1_500, moment);
              return null;
            }));
      }
      for (int i = 0; i < 300; i++) put(store, "k" + i % 6, "later");
      for (var reader : readers) reader.get();
    }
  }

  @Test
  void passesOverAPutThatWasTakenBack() {
    try (var store = Script.open(disk, Threads.real(), Duration.ofMillis(100), 1 << 20)) {
      put(store, "k", "a");
      long before = store.moment();
      assertThrows(DeadlineExceeded.class, () -> put(store, "k", "loop"));
      long after = store.moment();
      put(store, "k", "b");
      assertEquals("a", then(store, key("k"), before));
      assertEquals("a", then(store, key("k"), after));
      assertEquals("a,b", then(store, key("k"), store.moment()));
    }
  }

  @Test
  void waitsOnlyForPutsThatAreSeen() throws Exception {
    var gate = new CountDownLatch(1);
    try (var store = withPersistent(Script.open(disk), false, gate);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      long first = putPersistent(store, "k", "a");
      long second = putPersistent(store, "k", "b");
      var blocked =
          store.putAsync(
              store.target(persistent("k")), Put.of(Script.bytes("wait")), Terms.expecting(ANY));
      while (store.moment() == second) Thread.onSpinWait();
      // These do not wait for the put that is under way; the last one does.
      assertEquals("a", then(store, persistent("k"), first));
      assertEquals("a,b", then(store, persistent("k"), second));
      Future<String> waiting = threads.submit(() -> then(store, persistent("k"), store.moment()));
      assertFalse(blocked.isDone());
      gate.countDown();
      assertEquals("a,b,wait", waiting.get());
    }
  }

  @Test
  void knowsWhereThePastOfAVersionEnds() {
    try (var store = Script.open(disk)) {
      for (int i = 0; i < 100; i++) put(store, "k", i % 10 == 0 ? "call other x" : "x");
      Resident resident = store.engine().residents().pin(key("k"));
      for (var event : store.events(key("k"), 1, Long.MAX_VALUE)) {
        if (!Records.isChange(event.entry())) continue;
        long address = event.entry().address();
        long end = store.engine().finder().settled(resident, address, 0);
        assertTrue(end <= address + 2, "what is said about " + address + " lies up to " + end);
      }
      resident.unpin();
    }
  }

  @Test
  void readersOfOneVersionHaveAnInstanceEach() throws Exception {
    for (boolean forks : new boolean[] {true, false}) {
      try (var store =
              withPersistent(Script.open(new MemoryDisk(64 << 20)), forks, new CountDownLatch(0));
          var threads = Executors.newFixedThreadPool(8)) {
        putPersistent(store, "a", "1");
        long moment = putPersistent(store, "b", "2");
        putPersistent(store, "a", "3");
        putPersistent(store, "b", "4");
        var readers = new ArrayList<Callable<Boolean>>();
        for (int i = 0; i < 8; i++) {
          boolean first = i % 2 == 0;
          readers.add(() -> {
            // Each holds one and asks for the other.
            for (int n = 0; n < 2_000; n++) {
              var past = store.at(persistent(first ? "a" : "b"), moment);
              var said = past.get(first ? "ask b" : "ask a", ANY, Pace.LONG);
              assertEquals(first ? "1|2" : "2|1", text(said.encoded()));
            }
            return true;
          });
        }
        for (var reader : threads.invokeAll(readers)) assertTrue(reader.get());
      }
    }
  }

  @Test
  void asksTheLiveStateWhileItIsWhatWasSeen() {
    try (var store = withPersistent(Script.open(disk), false, new CountDownLatch(0))) {
      putPersistent(store, "a", "1");
      long moment = putPersistent(store, "b", "2");
      var past = store.at(persistent("a"), moment);
      Resident resident = store.engine().residents().pin(persistent("a"));
      while (resident.isBusy()) Thread.onSpinWait();
      resident.unpin();
      assertEquals("1", text(past.get("lines", ANY, Pace.SHORT).encoded()));
      assertEquals(0, store.engine().versions().keptBytes());
      // What asks others is asked of a version of its own.
      putPersistent(store, "b", "3");
      assertEquals("1|2", text(past.get("ask b", ANY, Pace.SHORT).encoded()));
    }
  }

  @Test
  void keepsForksThatShareTheirStateForLittle() {
    try (var store = withPersistent(Script.open(disk), true, new CountDownLatch(0))) {
      String line = "x".repeat(1_000);
      var moments = new ArrayList<Long>();
      for (int i = 0; i < 50; i++) {
        moments.add(putPersistent(store, "k", line));
        assertEquals(1_001 * (i + 1) - 1, then(store, persistent("k"), moments.getLast()).length());
      }
      long kept = store.engine().versions().keptBytes();
      assertTrue(kept < 100_000, "50 versions of up to 50 KB that share it take " + kept);
    }
  }

  @Test
  void refusesAnotherGenerationAndWhatIsNotThereYet() {
    try (var store = Script.open(disk)) {
      put(store, "k", "a");
      long first = store.moment();
      long generation = store.generation(key("k"));
      store.delete(store.target(key("k")), Terms.expecting(ANY));
      long deleted = store.moment();
      put(store, "k", "b");
      long again = store.moment();
      var expected = new Existence.Generation(generation);
      assertEquals(
          "a", text(store.at(key("k"), first).get("lines", expected, Pace.LONG).encoded()));
      assertThrows(Gone.class, () -> store.at(key("k"), deleted).get("lines", expected, Pace.LONG));
      assertThrows(Gone.class, () -> store.at(key("k"), again).get("lines", expected, Pace.LONG));
      assertEquals("", then(store, key("k"), deleted));
      assertEquals(0, store.at(key("k"), deleted).generation());
      // Before it began, the later one reads as absent.
      var later = new Existence.Generation(store.generation(key("k")));
      assertEquals("", text(store.at(key("k"), 0).get("lines", later, Pace.LONG).encoded()));
      assertThrows(IllegalArgumentException.class, () -> store.at(key("k"), again + 1));
    }
  }

  @Test
  void readsNothingThatWasReleased() {
    try (var store = Script.open(disk)) {
      var moments = new ArrayList<Long>();
      for (int i = 0; i < 20; i++) {
        put(store, "k", "x" + i);
        moments.add(store.moment());
      }
      then(store, key("k"), moments.get(3)); // kept in memory
      assertEquals(10, store.trim(key("k"), 10));
      assertThrows(TooOld.class, () -> then(store, key("k"), moments.get(3)));
      assertThrows(TooOld.class, () -> then(store, key("k"), moments.get(8)));
      assertTrue(then(store, key("k"), moments.get(9)).endsWith("x9"));
      try (var pin = store.pins().pin(moments.get(12))) {
        assertEquals(13, store.trim(key("k"), 18));
        assertTrue(then(store, key("k"), pin.counter()).endsWith("x12"));
      }
    }
  }

  @Test
  void keepsWhatASnapshotHoldsBeforeItChanges() {
    try (var store = withPersistent(Script.open(disk), true, new CountDownLatch(0))) {
      putPersistent(store, "k", "a");
      putPersistent(store, "k", "b");
      assertEquals(0, store.engine().versions().keptBytes(), "nobody holds anything");
      try (var pin = store.pinNow()) {
        putPersistent(store, "k", "c");
        assertTrue(store.engine().versions().keeps(persistent("k"), pin.counter()));
        long kept = store.engine().versions().keptBytes();
        putPersistent(store, "k", "d");
        assertEquals(
            kept, store.engine().versions().keptBytes(), "the next version is held by nobody");
        assertEquals("a,b", then(store, persistent("k"), pin.counter()));
      }
    }
  }

  @Test
  void seesWhatAVersionHadCalledAndNothingLater() {
    try (var store = withPersistent(Script.open(disk), true, new CountDownLatch(0))) {
      putPersistent(store, "b", "1");
      put(store, "a", "x");
      putPersistent(store, "k", "2");
      putPersistent(store, "b", "3");
      var past = store.past(persistent("k"), 1);
      assertEquals("2|1", text(past.get("ask b", ANY, Pace.LONG).encoded()));
    }
  }
}
