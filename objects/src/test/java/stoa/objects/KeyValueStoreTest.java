package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Call;
import stoa.CallFailed;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.KeyValueStore;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.ListenerLimits;
import stoa.ListenerRegistration;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.TraceParent;
import stoa.front.Service;
import stoa.front.types.Keys;
import stoa.store.calls.Pace;
import stoa.store.calls.Terms;

class KeyValueStoreTest {
  private static final long SECONDS = 30;

  record Point(int x, int y) {}

  /// Passes on what is put.
  record Everything() implements KeyHandler<Object, Object> {
    @Override
    public @Nullable Object handle(Object key, @Nullable Object value, @Nullable Object before) {
      return before + " -> " + value;
    }
  }

  /// Passes on numbers above a limit.
  record Above(long limit) implements KeyHandler<Long, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable Long value, @Nullable Long before) {
      return value != null && value > limit ? key + "=" + value : null;
    }
  }

  /// Keeps a sum in its field.
  static final class Sum implements KeyHandler<Long, Long> {
    private long sum;

    @Override
    public @Nullable Long handle(Object key, @Nullable Long value, @Nullable Long before) {
      if (value == null) throw new IllegalStateException("nothing to add");
      sum += value;
      return sum;
    }
  }

  /// Reads the clock, which is not the same in a replay.
  static final class Clocked implements KeyHandler<Long, Long> {
    @Override
    public @Nullable Long handle(Object key, @Nullable Long value, @Nullable Long before) {
      return System.currentTimeMillis();
    }
  }

  static final class Stamped implements KeyHandler<Long, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable Long value, @Nullable Long before) {
      return Call.now() + " " + Call.uuid();
    }
  }

  @Shared(name = "keys.Tally")
  static class Tally {
    private long count;

    public long add(long n) {
      count += n;
      return count;
    }
  }

  /// Counts in a shared object.
  record Tallying(Tally tally) implements KeyHandler<Long, Long> {
    @Override
    public @Nullable Long handle(Object key, @Nullable Long value, @Nullable Long before) {
      return tally.add(value == null ? 0 : value);
    }
  }

  /// Remembers what it is told.
  private static final class Ear<W> implements KeyListener<W> {
    private final LinkedBlockingQueue<KeyEvent<? extends W>> events = new LinkedBlockingQueue<>();
    private final CompletableFuture<StoaException> end = new CompletableFuture<>();

    @Override
    public void on(KeyEvent<W> event) {
      events.add(event);
    }

    @Override
    public void ended(StoaException cause) {
      end.complete(cause);
    }

    KeyEvent<? extends W> next() throws InterruptedException {
      return Objects.requireNonNull(events.poll(SECONDS, TimeUnit.SECONDS), "no event came");
    }

    List<W> next(int count) throws InterruptedException {
      var values = new ArrayList<W>();
      for (int i = 0; i < count; i++) values.add(next().value());
      return values;
    }

    StoaException end() throws Exception {
      return end.get(SECONDS, TimeUnit.SECONDS);
    }
  }

  @TempDir Path folder;

  private Stoa memory() {
    return Stoa.open("memory:");
  }

  private Stoa file() {
    return Stoa.open("file:" + folder.resolve("store"));
  }

  @Test
  void getsWhatWasPutLast() throws Exception {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      assertNull(store.get("k"));
      store.put("k", 1L);
      store.put("k", new Point(1, 2));
      assertEquals(new Point(1, 2), store.get("k", Point.class).orElseThrow());
      assertNull(store.get("other"));
      assertTrue(store.remove("k"));
      assertFalse(store.remove("k"));
      assertNull(store.get("k"));
      var _ = store.putAsync("k", "a");
      var last = store.putAsync("k", "b");
      assertEquals("b", store.getAsync("k").get(SECONDS, TimeUnit.SECONDS));
      assertTrue(last.isDone());
    }
  }

  @Test
  void copiesValuesOnTheirWayInAndOut() {
    try (Stoa stoa = memory()) {
      var value = new ArrayList<>(List.of("a"));
      stoa.store().put("k", value);
      value.add("b");
      assertEquals(List.of("a"), stoa.store().get("k"));
    }
  }

  @Test
  void findsValuesAgainWhenTheStoreIsOpenedAgain() {
    try (Stoa stoa = file()) {
      stoa.store().put(new Point(1, 1).toString(), new Point(3, 4));
    }
    try (Stoa stoa = file()) {
      assertEquals(new Point(3, 4), stoa.store().get(new Point(1, 1).toString()));
    }
  }

  @Test
  void tellsAListenerWhatItsHandlerMakesOfEachPut() throws Exception {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      store.put("k", 1L);
      var ear = new Ear<Object>();
      var above = new Ear<String>();
      ListenerRegistration all = store.register("k", ear, new Everything());
      ListenerRegistration some = store.register("k", above, new Above(5));
      store.put("k", 5L);
      store.put("k", 6L);
      store.put("other", 7L);
      assertTrue(store.remove("k"));
      store.put("k", 8L);
      assertEquals(List.of("1 -> 5", "5 -> 6", "6 -> null", "null -> 8"), ear.next(4));
      assertEquals(new KeyEvent<>("k", "k=6", 1), above.next());
      assertEquals(new KeyEvent<>("k", "k=8", 2), above.next());
      assertTrue(all.isOpen() && some.isOpen());
      assertEquals("k", all.key());
    }
  }

  @Test
  void tellsNothingMoreOnceARegistrationIsClosed() throws Exception {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      var closed = new Ear<Object>();
      var open = new Ear<Object>();
      ListenerRegistration registration = store.register("k", closed, new Everything());
      var _ = store.register("k", open, new Everything());
      store.put("k", 1L);
      assertEquals("null -> 1", closed.next().value());
      registration.close();
      registration.close();
      assertFalse(registration.isOpen());
      store.put("k", 2L);
      assertEquals(List.of("null -> 1", "1 -> 2"), open.next(2));
      assertTrue(closed.events.isEmpty());
      assertFalse(closed.end.isDone());
    }
  }

  @Test
  void aHandlerKeepsWhatItChangesInItself() throws Exception {
    try (Stoa stoa = memory()) {
      var ear = new Ear<Long>();
      var handler = new Sum();
      var _ = stoa.store().register("k", ear, handler);
      // So many bytes that the key is checkpointed and goes on from there.
      int puts = 5_000;
      for (int i = 1; i <= puts; i++) {
        var _ = stoa.store().putAsync("k", (long) i);
      }
      long sum = 0;
      for (int i = 1; i <= puts; i++) {
        sum += i;
        assertEquals(new KeyEvent<>("k", sum, i), ear.next());
      }
      assertEquals(0, handler.sum);
    }
  }

  @Test
  void endsAListenerWhoseHandlerThrowsAndLetsThePutStand() throws Exception {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      var ear = new Ear<Long>();
      var other = new Ear<Object>();
      ListenerRegistration registration = store.register("k", ear, new Sum());
      var _ = store.register("k", other, new Everything());
      store.put("k", 1L);
      assertTrue(store.remove("k"));
      store.put("k", 2L);
      assertEquals(List.of(1L), ear.next(1));
      var cause = assertInstanceOf(CallFailed.class, ear.end());
      assertInstanceOf(IllegalStateException.class, cause.getCause());
      assertFalse(registration.isOpen());
      assertEquals(3, other.next(3).size());
      assertEquals(2L, store.get("k"));
      assertTrue(ear.events.isEmpty());
    }
  }

  @Test
  void endsAListenerThatThrows() throws Exception {
    try (Stoa stoa = memory()) {
      var end = new CompletableFuture<StoaException>();
      KeyListener<Object> throwing =
          new KeyListener<>() {
            @Override
            public void on(KeyEvent<Object> event) {
              throw new IllegalArgumentException("not this one");
            }

            @Override
            public void ended(StoaException cause) {
              end.complete(cause);
            }
          };
      ListenerRegistration registration = stoa.store().register("k", throwing, new Everything());
      stoa.store().put("k", 1L);
      var cause = assertInstanceOf(CallFailed.class, end.get(SECONDS, TimeUnit.SECONDS));
      assertInstanceOf(IllegalArgumentException.class, cause.getCause());
      assertFalse(registration.isOpen());
    }
  }

  @Test
  void endsAListenerThatIsTooFarBehindAndKeepsNobodyElse() throws Exception {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      var begun = new CountDownLatch(1);
      var go = new CountDownLatch(1);
      var end = new CompletableFuture<StoaException>();
      KeyListener<Object> slow =
          new KeyListener<>() {
            @Override
            public void on(KeyEvent<Object> event) {
              begun.countDown();
              try {
                go.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }

            @Override
            public void ended(StoaException cause) {
              end.complete(cause);
            }
          };
      var quick = new Ear<Object>();
      var _ = store.register("k", slow, new Everything(), new ListenerLimits(10, 1 << 20));
      var _ = store.register("k", quick, new Everything());
      store.put("k", 0L);
      begun.await();
      for (long i = 1; i < 20; i++) store.put("k", i);
      assertEquals(20, quick.next(20).size());
      go.countDown();
      assertInstanceOf(LimitExceeded.class, end.get(SECONDS, TimeUnit.SECONDS));
    }
  }

  @Test
  void boundsTheListenersOfAKey() throws Exception {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      var registrations = new ArrayList<ListenerRegistration>();
      for (int i = 0; i < KeyValueStore.LISTENERS_MAX; i++) {
        registrations.add(store.register("k", _ -> {}, new Above(0)));
      }
      assertThrows(LimitExceeded.class, () -> store.register("k", _ -> {}, new Above(0)));
      registrations.getFirst().close();
      var ear = new Ear<String>();
      var _ = store.register("k", ear, new Above(0));
      store.put("k", 1L);
      assertEquals("k=1", ear.next().value());
    }
  }

  @Test
  void boundsTheBytesOfAValue() {
    var config = StoaConfig.of("memory:").withLimits(Limits.standard().withCallBytesMax(1_000));
    try (Stoa stoa = Stoa.open(config)) {
      assertThrows(LimitExceeded.class, () -> stoa.store().put("k", "x".repeat(2_000)));
      assertNull(stoa.store().get("k"));
    }
  }

  @Test
  void refusesHandlersThatCannotRunInTheStore() {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      KeyHandler<Object, Object> lambda = (_, value, _) -> value;
      for (KeyHandler<?, ?> bad : List.of(lambda, new Clocked())) {
        assertThrows(NotShareable.class, () -> store.register("k", _ -> {}, bad));
      }
      assertThrows(NotShareable.class, () -> store.put("k", (Runnable) () -> {}));
    }
  }

  @Test
  void isRefusedInTransactions() {
    try (Stoa stoa = memory()) {
      assertThrows(
          IllegalStateException.class, () -> stoa.transact(() -> stoa.store().put("k", 1L)));
      assertNull(stoa.store().get("k"));
    }
  }

  @Test
  void aHandlerMayUseTheTimeOfThePutAndSharedObjects() throws Exception {
    try (Stoa stoa = file()) {
      var stamps = new Ear<String>();
      var sums = new Ear<Long>();
      var _ = stoa.store().register("k", stamps, new Stamped());
      Tally tally = stoa.create(Tally.class, "t");
      var _ = stoa.store().register("k", sums, new Tallying(tally));
      stoa.store().put("k", 3L);
      stoa.store().put("k", 4L);
      assertEquals(2, stamps.next(2).stream().distinct().count());
      assertEquals(List.of(3L, 7L), sums.next(2));
      assertEquals(7L, tally.add(0));
    }
  }

  @Test
  void tellsAllListenersTheSameOrderWhateverManyPut() throws Exception {
    try (Stoa stoa = memory()) {
      KeyValueStore store = stoa.store();
      int putters = 3;
      int puts = 400;
      var ears = IntStream.range(0, 3).mapToObj(_ -> new Ear<Object>()).toList();
      for (var ear : ears) {
        var _ = store.register("k", ear, new Everything());
      }
      var failure = new AtomicReference<Throwable>();
      var threads =
          IntStream.range(0, putters)
              .mapToObj(putter ->
                  Thread.ofPlatform()
                      .start(() -> {
                        try {
                          for (int i = 0; i < puts; i++) store.put("k", putter + "." + i);
                        } catch (Throwable thrown) {
                          failure.set(thrown);
                        }
                      }))
              .toList();
      for (Thread thread : threads) thread.join();
      assertNull(failure.get());
      List<Object> first = ears.getFirst().next(putters * puts);
      for (var ear : ears.subList(1, ears.size())) assertEquals(first, ear.next(first.size()));
      String before = "null";
      for (Object event : first) {
        String text = event.toString();
        assertTrue(text.startsWith(before + " -> "), text + " follows " + before);
        before = text.substring(text.lastIndexOf(' ') + 1);
      }
      assertEquals(before, store.get("k"));
    }
  }

  // ---- sessions

  /// A client's part, as whoever serves it has it.
  private static final class Taken implements Service.Sink {
    private final LocalService stoa;
    private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();

    private Taken(Stoa stoa) {
      this.stoa = LocalService.of(stoa);
    }

    @Override
    public void event(long number, byte[] event, @Nullable TraceParent trace) {
      events.add(number + ": " + stoa.marshaller().value(event));
    }

    @Override
    public void ended(long number, byte[] cause) {
      events.add(number + ": ended");
    }

    @Override
    public void failed(RuntimeException cause) {
      events.add("failed");
    }

    String next() throws InterruptedException {
      return Objects.requireNonNull(events.poll(SECONDS, TimeUnit.SECONDS), "no event came");
    }
  }

  private static Key key(Stoa stoa, String name) {
    return LocalService.of(stoa).keyValues().key(Keys.encode(name));
  }

  private static KeyValues values(Stoa stoa) {
    return LocalService.of(stoa).keyValues();
  }

  private static List<KeyAnswer.Batch> waiting(Stoa stoa, String key, ListenerId listening) {
    var after = List.of(new KeyCommand.UpTo(listening, 0));
    var query = new ListenableKey.Query.Waiting(after, 100, 1 << 20);
    KeyValues values = values(stoa);
    var target = values.core().target(key(stoa, key));
    var request =
        values.core().get(target, query, Terms.expecting(new Existence.Any(null)).at(Pace.SHORT));
    return ((KeyAnswer.Waiting) request.answer()).batches();
  }

  private static void register(Stoa stoa, ListenerId listening, String key) {
    LocalService service = LocalService.of(stoa);
    service.admit(Sum.class);
    byte[] handler = service.marshaller().value((Object) new Sum());
    int code = service.catalog().handlers().numberOf(Sum.class, true);
    values(stoa).register(listening, key(stoa, key), ListenerLimits.STANDARD, handler, code);
  }

  @Test
  void eventsOfAClientOutliveTheStoreAndKeepTheirNumbers() throws Exception {
    var listening = new ListenerId(7, 1);
    try (Stoa stoa = file()) {
      register(stoa, listening, "k");
      for (long i = 1; i <= 4; i++) stoa.store().put("k", i);
      var taken = new Taken(stoa);
      values(stoa).send(listening, key(stoa, "k"), taken);
      for (int i = 1; i <= 4; i++) assertEquals(i + ": " + i * (i + 1) / 2, taken.next());
      values(stoa).heard(listening, key(stoa, "k"), 2);
      values(stoa).stop(listening, key(stoa, "k"), taken);
      stoa.store().put("k", 5L);
      assertTrue(taken.events.isEmpty());
    }
    try (Stoa stoa = file()) {
      register(stoa, listening, "k"); // which changes nothing
      stoa.store().put("k", 6L);
      var taken = new Taken(stoa);
      values(stoa).send(listening, key(stoa, "k"), taken);
      for (int i = 3; i <= 6; i++) assertEquals(i + ": " + i * (i + 1) / 2, taken.next());
      assertTrue(stoa.store().remove("k"));
      assertEquals("7: ended", taken.next());
      values(stoa).heard(listening, key(stoa, "k"), 7);
      // The store logs handled events later, together with those of other listeners.
      while (waiting(stoa, "k", listening).getFirst().known()) Thread.onSpinWait();
      values(stoa).stop(listening, key(stoa, "k"), null);
    }
  }

  @Test
  void theEndOfASessionTakesItsListenersOut() throws Exception {
    var one = new ListenerId(7, 1);
    var two = new ListenerId(8, 1);
    try (Stoa stoa = file()) {
      register(stoa, one, "a");
      register(stoa, one, "b");
      register(stoa, two, "b");
    }
    try (Stoa stoa = file()) {
      var taken = new Taken(stoa);
      values(stoa).send(one, key(stoa, "a"), taken);
      values(stoa).endSession(7);
      assertEquals("failed", taken.next());
      assertFalse(waiting(stoa, "a", one).getFirst().known());
      assertFalse(waiting(stoa, "b", one).getFirst().known());
      assertTrue(waiting(stoa, "b", two).getFirst().known());
      values(stoa).endSession(7); // again, which finds nothing
    }
  }

  @Test
  void listenersOfAnEarlierProcessAreGone() throws Exception {
    ListenerId earlier;
    try (Stoa stoa = file()) {
      var _ = stoa.store().register("k", new Ear<Long>(), new Sum());
      earlier = new ListenerId(values(stoa).ownSession(), 1);
      assertTrue(waiting(stoa, "k", earlier).getFirst().known());
    }
    try (Stoa stoa = file()) {
      assertFalse(waiting(stoa, "k", earlier).getFirst().known());
      var ear = new Ear<Long>();
      var _ = stoa.store().register("k", ear, new Sum());
      stoa.store().put("k", 5L);
      assertEquals(new KeyEvent<>("k", 5L, 1), ear.next());
    }
  }

  @Test
  void aListenerThatStallsGetsItsEventsInPartsAndMissesNone() throws Exception {
    var listening = new ListenerId(7, 1);
    try (Stoa stoa = memory()) {
      register(stoa, listening, "k");
      var taken = new Taken(stoa);
      values(stoa).send(listening, key(stoa, "k"), taken);
      int puts = 1_000;
      for (int i = 0; i < puts; i++) {
        var _ = stoa.store().putAsync("k", 1L);
      }
      assertNull(stoa.store().putAsync("k", 1L).get(SECONDS, TimeUnit.SECONDS));
      for (long i : LongStream.rangeClosed(1, puts + 1).toArray()) {
        assertEquals(i + ": " + i, taken.next());
        if (i % 100 == 0) values(stoa).heard(listening, key(stoa, "k"), i);
      }
    }
  }
}
