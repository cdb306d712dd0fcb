package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.AlreadyExists;
import stoa.Blob;
import stoa.Call;
import stoa.Change;
import stoa.Changes;
import stoa.Closed;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.Limits;
import stoa.LogAddress;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Placement;
import stoa.Shared;
import stoa.SharedMap;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.Subscription;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.View;
import stoa.storage.disk.MemoryDisk;

/// A store that several groups keep, as its clients see it.
class GroupedStoaTest {
  private static final int GROUPS = 3;

  @Shared(name = "grouped.Tally", order = LogOrder.STREAM)
  static class Tally {
    private long value;

    public long increment() {
      return ++value;
    }

    @Accessor
    public long value() {
      return value;
    }

    public long incrementBoth(Tally other) {
      return ++value + other.increment();
    }

    public long read(Counter counter) {
      return counter.value();
    }
  }

  @Shared(name = "grouped.Counter")
  static class Counter {
    private long value;

    public long increment() {
      return ++value;
    }

    @Accessor
    public long value() {
      return value;
    }

    public long incrementBoth(Counter other) {
      return ++value + other.increment();
    }

    public long incrementTally(Tally other) {
      return ++value + other.increment();
    }
  }

  /// Keeps objects of any group, in the global order.
  @Shared(name = "grouped.Holder")
  static class Holder {
    private final List<Tally> tallies = new ArrayList<>();
    private @Nullable Tally last;

    public void add(Tally tally) {
      tallies.add(tally);
      last = tally;
    }

    @Accessor
    public List<Tally> tallies() {
      return tallies;
    }

    @Accessor
    public Tally last() {
      return Objects.requireNonNull(last);
    }
  }

  /// As [Holder], in any group.
  @Shared(name = "grouped.Keeper", order = LogOrder.STREAM)
  static class Keeper {
    private @Nullable Tally tally;
    private @Nullable Counter counter;
    private @Nullable SharedMap<String, Colour> map;

    public void keep(Tally newTally, Counter newCounter) {
      tally = newTally;
      counter = newCounter;
    }

    public void keepMap(SharedMap<String, Colour> newMap) {
      map = newMap;
    }

    @Accessor
    public Tally tally() {
      return Objects.requireNonNull(tally);
    }

    @Accessor
    public Counter counter() {
      return Objects.requireNonNull(counter);
    }

    @Accessor
    public SharedMap<String, Colour> map() {
      return Objects.requireNonNull(map);
    }
  }

  /// An object that is placed at clients.
  @Shared(name = "grouped.Piece", placement = Placement.CLIENT)
  static class Piece {
    private String moves = "";
    private int count;

    public int move(String move) {
      moves += move + " ";
      return ++count;
    }

    @Accessor
    public String moves() {
      return moves;
    }
  }

  /// Keeps one of these.
  @Shared(name = "grouped.Desk")
  static class Desk {
    private @Nullable Piece piece;

    public void put(Piece newPiece) {
      piece = newPiece;
    }

    @Accessor
    public Piece piece() {
      return Objects.requireNonNull(piece);
    }
  }

  /// A class whose constructor has an argument, and refuses some.
  @Shared(name = "grouped.Opened")
  static class Opened {
    private long value;

    protected Opened(long first) {
      if (first < 0) throw new IllegalStateException("less than nothing");
      value = first;
    }

    public long add() {
      return ++value;
    }
  }

  /// Begins these.
  @Shared(name = "grouped.Opener")
  static class Opener {
    private @Nullable Opened opened;

    public void keep(Opened newOpened) {
      opened = newOpened;
    }

    public long addThere() {
      return Objects.requireNonNull(opened).add();
    }

    public long open(String key, long first) {
      return Call.get(Opened.class, key, first).add();
    }
  }

  record Colour(int red, int green, int blue) {}

  static final class Echo implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      return value;
    }
  }

  private final List<MemoryDisk> disks =
      IntStream.range(0, GROUPS).mapToObj(_ -> new MemoryDisk(256 << 20)).toList();
  private final Groups groups = new Groups(StoaConfig.of("memory:"), disks, 2);
  private final Stoa stoa = Stoa.open(config(Duration.ofSeconds(30)));

  private StoaConfig config(Duration callTimeMax) {
    return StoaConfig.of(groups.url()).withLimits(Limits.standard().withCallTimeMax(callTimeMax));
  }

  @AfterEach
  void close() {
    stoa.close();
    groups.close();
  }

  /// The first key of some that a group has.
  private static <K> K keyOf(int group, IntFunction<K> keys, ToIntFunction<K> of) {
    for (int i = 0; ; i++) {
      K key = keys.apply(i);
      if (of.applyAsInt(key) == group) return key;
    }
  }

  private String name(Class<?> type, int group) {
    return keyOf(group, i -> "object " + i, key -> groups.group(type, key));
  }

  private Tally tally(int group) {
    return stoa.get(Tally.class, name(Tally.class, group));
  }

  private Keeper keeper(int group) {
    return stoa.get(Keeper.class, name(Keeper.class, group));
  }

  // ---- where objects are

  @Test
  void objectsAreSpreadAndListedTogether() {
    var names = new HashSet<Object>();
    for (int i = 0; i < 60; i++) {
      assertEquals(1, stoa.get(Tally.class, i).increment());
      names.add(i);
    }
    try (var parts = RemoteService.open(config(Duration.ofSeconds(30)))) {
      for (int group = 0; group < GROUPS; group++) {
        var there = parts.part(group).names(Tally.class);
        assertTrue(there.hasNext(), "group " + group + " has none");
      }
    }
    var listed = new HashSet<Object>();
    try (var listing = stoa.list(Tally.class)) {
      for (Tally tally : listing) {
        assertTrue(listed.add(stoa.ref(tally).key()));
        assertEquals(1, tally.value());
      }
    }
    assertEquals(names, listed);
  }

  @Test
  void eachGroupsObjectsAreCreatedFoundAndDeleted() {
    for (int group = 0; group < GROUPS; group++) {
      String name = name(Tally.class, group);
      assertTrue(stoa.find(Tally.class, name).isEmpty());
      Tally created = stoa.create(Tally.class, name);
      assertThrows(AlreadyExists.class, () -> stoa.create(Tally.class, name));
      assertEquals(1, created.increment());
      assertEquals(1, stoa.find(Tally.class, name).orElseThrow().value());
      assertTrue(stoa.delete(created));
      assertFalse(stoa.delete(stoa.get(Tally.class, name)));
    }
  }

  // ---- references

  @Test
  void anObjectKeepsAndAnswersObjectsOfOtherGroups() {
    Holder holder = stoa.get(Holder.class, "holder");
    for (int group = 0; group < GROUPS; group++) {
      Tally tally = tally(group);
      tally.increment();
      holder.add(tally);
      assertEquals(2, holder.last().increment());
      assertEquals(stoa.ref(tally), stoa.ref(holder.last()));
    }
    for (Tally tally : holder.tallies()) assertEquals(3, tally.increment());
  }

  @Test
  void anObjectAnswersObjectsThatArePlacedAtClients() {
    for (int i = 0; i < 12; i++) {
      Piece piece = stoa.get(Piece.class, "piece " + i);
      piece.move("e4");
      Desk desk = stoa.get(Desk.class, "desk " + i);
      desk.put(piece);
      stoa.flush();
      Piece answered = desk.piece();
      assertEquals(stoa.ref(piece), stoa.ref(answered));
      assertEquals(2, answered.move("e5"));
      assertEquals("e4 e5 ", piece.moves());
    }
  }

  @Test
  void aMethodBeginsNoObjectOfAnotherGroupWhoseConstructorRefuses() {
    for (int group = 0; group < GROUPS; group++) {
      Opener opener = stoa.get(Opener.class, name(Opener.class, group));
      for (int other = 0; other < GROUPS; other++) {
        String named = "of " + group + ", " + other;
        String key = keyOf(other, i -> named + " " + i, name -> groups.group(Opened.class, name));
        opener.keep(stoa.get(Opened.class, key, 1L));
        assertThrows(stoa.NotShareable.class, opener::addThere);
        assertThrows(IllegalStateException.class, () -> opener.open(key, -1));
        assertTrue(stoa.find(Opened.class, key).isEmpty());
        assertEquals(8, opener.open(key, 7));
        assertEquals(9, opener.addThere());
      }
    }
  }

  @Test
  void whatComesOfALocalStateMayBeOfAnotherGroup() {
    Holder holder = stoa.get(Holder.class, "viewed");
    Tally tally = tally(2);
    tally.increment();
    holder.add(tally);
    for (View view : List.of(new View.Local(), new View.Cached())) {
      Tally seen = stoa.view(Holder.class, stoa.ref(holder), view).last();
      assertEquals(stoa.ref(tally), stoa.ref(seen));
      assertEquals(tally.value() + 1, seen.increment());
    }
    assertEquals(3, stoa.view(Tally.class, stoa.ref(tally), new View.Local()).value());
    assertEquals(1, stoa.view(Tally.class, stoa.ref(tally), new View.AtVersion(1)).value());
  }

  @Test
  void anObjectOfAnotherGroupThatWasNeverAskedForIsFoundByReference() {
    for (int group = 0; group < GROUPS; group++) {
      Counter counter = stoa.get(Counter.class, "counter");
      counter.increment();
      keeper(group).keep(tally((group + 1) % GROUPS), counter);
    }
    // A client that has asked for nothing yet.
    try (Stoa other = Stoa.open(config(Duration.ofSeconds(30)))) {
      for (int group = 0; group < GROUPS; group++) {
        Keeper keeper = other.get(Keeper.class, name(Keeper.class, group));
        assertEquals(1, keeper.tally().increment());
        assertEquals(GROUPS, keeper.counter().value());
      }
    }
  }

  @Test
  void objectsOfAnotherStoreAreRefused() {
    try (Stoa other = Stoa.open(config(Duration.ofSeconds(30)))) {
      Tally foreign = other.get(Tally.class, name(Tally.class, 1));
      assertThrows(NotShareable.class, () -> stoa.get(Holder.class, "h").add(foreign));
      assertThrows(NotShareable.class, () -> stoa.delete(foreign));
    }
  }

  // ---- nested calls

  @Test
  void anObjectCallsThoseOfOtherGroupsWhateverTheirOrder() {
    for (int group = 0; group < GROUPS; group++) {
      Counter counter = stoa.get(Counter.class, name(Counter.class, group));
      for (int other = 0; other < GROUPS; other++) {
        Tally tally = tally(other);
        long before = tally.value();
        counter.incrementTally(tally);
        assertEquals(before + 1, tally.value());
        assertEquals(counter.value(), tally.read(counter));
      }
    }
    Tally one = tally(1);
    Tally two = tally(2);
    long before = two.value();
    one.incrementBoth(two);
    assertEquals(before + 1, two.value());
  }

  @Test
  void callsBetweenObjectsOfOneGroupGoOn() {
    Counter one = stoa.get(Counter.class, "one");
    assertEquals(2, one.incrementBoth(stoa.get(Counter.class, "two")));
    assertEquals(2, one.incrementTally(tally(0)) - 1);
    for (int group = 0; group < GROUPS; group++) {
      int same = group;
      String other = keyOf(group, i -> "other " + i, key -> groups.group(Tally.class, key));
      Tally tally = tally(same);
      long before = tally.value();
      assertEquals(before + 2, tally.incrementBoth(stoa.get(Tally.class, other)));
    }
  }

  // ---- the key-value store

  @Test
  void keysAreSpreadWithTheirListeners() throws Exception {
    for (int group = 0; group < GROUPS; group++) {
      String key = keyOf(group, i -> "key " + i, groups::group);
      BlockingQueue<String> heard = new LinkedBlockingQueue<>();
      try (var _ =
          stoa.store()
              .register(key, (KeyEvent<String> event) -> heard.add(event.value()), new Echo())) {
        assertNull(stoa.store().get(key));
        stoa.store().put(key, "one");
        stoa.store().putAsync(key, "two").get();
        assertEquals("two", stoa.store().get(key));
        assertEquals("two", stoa.store().getAsync(key).get());
        assertEquals("one", heard.poll(60, TimeUnit.SECONDS));
        assertEquals("two", heard.poll(60, TimeUnit.SECONDS));
        assertTrue(stoa.store().remove(key));
      }
      stoa.store().put(key, tally((group + 1) % GROUPS));
      var kept = (Tally) Objects.requireNonNull(stoa.store().get(key));
      assertEquals(1, kept.increment());
    }
  }

  // ---- collections

  @Test
  void collectionsHoldObjectsOfAnyGroup() {
    SharedMap<String, Tally> map = stoa.map("tallies", String.class, Tally.class);
    for (int group = 0; group < GROUPS; group++) map.put("group " + group, tally(group));
    for (int group = 0; group < GROUPS; group++) {
      assertEquals(1, Objects.requireNonNull(map.get("group " + group)).increment());
    }
    var names = new HashSet<String>();
    for (var entry : map.entrySet()) {
      assertEquals(1, entry.getValue().value());
      names.add(entry.getKey());
    }
    assertEquals(Set.of("group 0", "group 1", "group 2"), names);
  }

  @Test
  void aCollectionTravelsThroughAnObjectOfAnyGroup() {
    SharedMap<String, Colour> colours = stoa.map("colours", String.class, Colour.class);
    colours.put("red", new Colour(255, 0, 0));
    for (int group = 0; group < GROUPS; group++) {
      Keeper keeper = keeper(group);
      keeper.keepMap(colours);
      assertEquals(new Colour(255, 0, 0), keeper.map().get("red"));
    }
  }

  // ---- what is of the store as a whole

  @Test
  void transactionsAreOfTheGlobalOrder() {
    Counter one = stoa.get(Counter.class, "one");
    Counter two = stoa.get(Counter.class, "two");
    assertEquals(
        2L, stoa.<Long, RuntimeException>transact(() -> one.increment() + two.increment()));
    for (int group = 0; group < GROUPS; group++) {
      Tally tally = tally(group);
      String name = name(Tally.class, group);
      var refused =
          assertThrows(
              UnsupportedOperationException.class,
              () -> stoa.transact(() -> one.increment() + tally.increment()));
      assertTrue(String.valueOf(refused.getMessage()).contains("LogOrder.STREAM"));
      assertThrows(
          UnsupportedOperationException.class,
          () -> stoa.transact(() -> stoa.create(Tally.class, name)));
      assertEquals(0, tally.value());
    }
    assertEquals(1, one.value());
    try (var transaction = stoa.begin(TxOptions.STANDARD)) {
      assertEquals(2, transaction.on(one).increment());
      assertThrows(UnsupportedOperationException.class, () -> transaction.on(tally(1)).increment());
      var _ = transaction.commit();
    }
    assertEquals(2, one.value());
  }

  @Test
  void snapshotsAreOfTheGlobalOrder() {
    Counter counter = stoa.get(Counter.class, "counter");
    Tally tally = tally(1);
    Holder holder = stoa.get(Holder.class, "holder");
    holder.add(tally);
    counter.increment();
    tally.increment();
    try (var snapshot = stoa.snapshot()) {
      counter.increment();
      assertEquals(1, snapshot.on(counter).value());
      assertEquals(
          1, stoa.view(Counter.class, stoa.ref(counter), new View.AtSnapshot(snapshot)).value());
      assertThrows(UnsupportedOperationException.class, () -> snapshot.on(tally));
      assertThrows(
          UnsupportedOperationException.class,
          () -> stoa.view(Tally.class, stoa.ref(tally), new View.AtSnapshot(snapshot)));
      Tally then = snapshot.on(holder).last();
      assertThrows(UnsupportedOperationException.class, then::value);
    }
  }

  @Test
  void streamsAndBlobsAreOfTheGlobalOrder() {
    StreamKey key = StreamKey.of("users");
    stoa.streams().append(key, "entry".getBytes(StandardCharsets.UTF_8));
    assertEquals(1, stoa.streams().check(key));
    Blob blob = stoa.get(Blob.class, "b");
    assertEquals(1, blob.write(2, new byte[] {7}));
    assertEquals(7, stoa.find(Blob.class, "b").orElseThrow().read(2, 1)[0]);
  }

  @Test
  void theStreamsOfTheObjectsOfAllGroupsAreRead() {
    for (int group = 0; group < GROUPS; group++) {
      Counter counter = stoa.get(Counter.class, name(Counter.class, group));
      for (int i = 0; i < 6; i++) counter.increment();
      StreamKey stream = stoa.streams().streamOf(stoa.ref(counter));
      assertEquals(6, stoa.streams().check(stream));
      assertEquals(
          stoa.history(counter).entries(1, 9).stream().map(entry -> entry.address()).toList(),
          stoa.streams().readAll(stream).stream().map(StreamEntry::log).toList());
      assertThrows(
          IllegalArgumentException.class, () -> stoa.streams().append(stream, new byte[1]));
    }
    // Group 0 has the objects that belong to the store as a whole, whatever their slots.
    for (int i = 0; i < 9; i++) {
      Blob blob = stoa.get(Blob.class, "b" + i);
      StreamKey stream = stoa.streams().streamOf(stoa.ref(blob));
      assertEquals(0, stoa.streams().check(stream));
      blob.write(0, new byte[] {1});
      assertEquals(1, stoa.streams().check(stream));
    }
  }

  // ---- by proxy

  @Test
  void eachGroupsObjectsHaveAPastAndAreCalledInTimeAndAsynchronously() {
    for (int group = 0; group < GROUPS; group++) {
      Tally tally = tally(group);
      var futures = new ArrayList<CompletableFuture<Long>>();
      for (int i = 0; i < 50; i++) futures.add(stoa.async(tally, Tally::increment));
      for (int i = 0; i < 50; i++) assertEquals(i + 1L, futures.get(i).join());
      assertEquals(51, stoa.within(Duration.ofSeconds(20), tally).increment());
      var history = stoa.history(tally);
      long newest = history.version();
      assertEquals(51, history.at(newest).value());
      assertEquals(50, history.at(newest - 1).value());
    }
  }

  // ---- groups that come and go

  @Test
  void aGroupWithoutAServerStopsNoOther() {
    tally(1).increment();
    groups.follow(1, 0);
    groups.follow(2, 0);
    try (Stoa hasty = Stoa.open(config(Duration.ofSeconds(1)))) {
      // Neither a part that was never open, nor one that was.
      assertThrows(
          Unavailable.class, () -> hasty.get(Tally.class, name(Tally.class, 2)).increment());
      Tally zero = hasty.get(Tally.class, name(Tally.class, 0));
      assertEquals(1, zero.increment());
      Holder holder = hasty.get(Holder.class, name(Holder.class, 0));
      holder.add(zero);
      assertEquals(2, holder.last().increment());
      groups.lead(2, 1);
      Tally two = hasty.get(Tally.class, name(Tally.class, 2));
      assertEquals(1, two.increment());
      holder.add(two);
      groups.follow(2, 1);
      assertEquals(stoa.ref(tally(0)), hasty.ref(holder.tallies().getFirst()));
      assertEquals(3, zero.increment());
      groups.lead(2, 0);
      assertEquals(2, holder.last().increment());
    }
    groups.lead(1, 1);
    assertEquals(2, tally(1).increment());
  }

  @Test
  void callsAreExecutedOnceWhileGroupsMoveBetweenServers() throws Exception {
    int threads = 6;
    int calls = 120;
    var tallies = IntStream.range(0, GROUPS).mapToObj(this::tally).toList();
    Counter counter = stoa.get(Counter.class, name(Counter.class, 0));
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var answers = new ArrayList<Future<List<Long>>>();
      for (int i = 0; i < threads; i++) {
        int target = i % (GROUPS + 1);
        answers.add(
            callers.submit(() -> {
              var seen = new ArrayList<Long>();
              for (int call = 0; call < calls; call++) {
                seen.add(target == GROUPS ? counter.increment() : tallies.get(target).increment());
              }
              return seen;
            }));
      }
      for (int round = 0; round < 4; round++) {
        for (int group = 0; group < GROUPS; group++) {
          groups.follow(group, round % 2);
          groups.lead(group, 1 - round % 2);
        }
      }
      var all = new ArrayList<Set<Long>>();
      for (int i = 0; i <= GROUPS; i++) all.add(new HashSet<>());
      for (int i = 0; i < threads; i++) {
        for (long seen : answers.get(i).get()) {
          assertTrue(all.get(i % (GROUPS + 1)).add(seen), "answered twice: " + seen);
        }
      }
      for (int group = 0; group < GROUPS; group++) {
        assertEquals(all.get(group).size(), tallies.get(group).value());
      }
      assertEquals(all.get(GROUPS).size(), counter.value());
    }
  }

  /// Returns the token of a new reader who has looked once, and so has asked all groups.
  private static LogAddress look(Subscription subscription) throws InterruptedException {
    try (var changes = subscription.changes(Changes.of(Holder.class))) {
      assertTrue(changes.next(Duration.ofMillis(20)).isEmpty());
      return changes.token();
    }
  }

  @Test
  void aSubscriptionThatIsLevelAndIdleDoesNotGetTooOld() throws InterruptedException {
    for (int group = 0; group < GROUPS; group++) tally(group).increment();
    Subscription idle = stoa.subscribe("idle", Duration.ofSeconds(1));
    for (int i = 0; i < 3; i++) idle.acknowledge(look(idle));
    // Behind it are notes about it alone, which home has. They get older.
    LogAddress level = idle.position();
    LogAddress later = level;
    for (int i = 0; i < 500 && later.compareTo(level) <= 0; i++) later = look(idle);
    assertTrue(later.compareTo(level) > 0, "it stays at " + level);
    idle.acknowledge(later);
    tally(1).increment();
    try (var changes = idle.changes(Changes.of(Tally.class))) {
      assertInstanceOf(Change.Called.class, changes.next());
      assertTrue(changes.poll().isEmpty());
    }
  }

  @Test
  void closingClosesAllParts() {
    var tallies = IntStream.range(0, GROUPS).mapToObj(this::tally).toList();
    tallies.forEach(Tally::increment);
    Stoa other = Stoa.open(config(Duration.ofSeconds(30)));
    var others =
        tallies.stream().map(tally -> other.get(Tally.class, stoa.ref(tally).key())).toList();
    others.forEach(Tally::increment);
    other.close();
    for (Tally tally : others) assertThrows(Closed.class, tally::increment);
    for (Tally tally : tallies) assertEquals(2, tally.value());
  }

  @Test
  void oneGroupHasOnePart() {
    try (var one = new Groups(StoaConfig.of("memory:"), List.of(new MemoryDisk(64 << 20)), 1);
        var parts = RemoteService.open(StoaConfig.of(one.url()))) {
      assertEquals(1, parts.count());
      assertEquals(1, parts.stoa().get(Tally.class, "t").increment());
      assertEquals(
          2,
          parts.stoa().get(Counter.class, "c").incrementTally(parts.stoa().get(Tally.class, "u")));
    }
  }
}
