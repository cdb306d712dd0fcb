package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Blob;
import stoa.KeyHandler;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.StreamKey;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.objects.EmbeddedEngine;
import stoa.objects.Merging;
import stoa.objects.ObjectService;
import stoa.objects.Spreading;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.threads.Threads;
import stoa.wire.SlotMap;

/// Stores that change their number of groups: several become one, or another several.
class RegroupedTest {
  private static final int SHELVES = 12;
  private static final StoaConfig CONFIG = StoaConfig.of("memory:");
  private static final StoaConfig HASTY =
      CONFIG.withLimits(CONFIG.limits().withCloseTimeMax(Duration.ofMillis(10)));
  private static final StreamKey EVENTS = StreamKey.of("events");

  enum Kind {
    BOOK,
    DISC
  }

  record Item(String title, Kind kind, List<Object> notes) {}

  record Crate(Map<Item, Long> items) {}

  /// Holds items, and moves them to other shelves.
  @Shared
  static class Shelf {
    private final Map<String, Item> items = new HashMap<>();
    private final List<Shelf> neighbors = new ArrayList<>();
    private long moves;

    public int put(Item item) {
      if (items.putIfAbsent(item.title(), item) != null) {
        throw new IllegalArgumentException(item.title() + " is here already");
      }
      return items.size();
    }

    public Crate pass(String title, Shelf to) {
      Item item = Objects.requireNonNull(items.remove(title), title);
      int there = to.put(item);
      if (!neighbors.contains(to)) neighbors.add(to);
      moves++;
      return new Crate(Map.of(item, (long) there));
    }

    @Accessor
    public SortedMap<String, Item> items() {
      return new TreeMap<>(items);
    }

    @Accessor
    public long moves() {
      return moves;
    }

    @Accessor
    public List<String> neighbors() {
      return neighbors.stream().map(shelf -> "" + shelf.items().size()).toList();
    }
  }

  /// Counts what crates have.
  @Shared
  static class Scale {
    private long weighed;
    private Crate last = new Crate(Map.of());

    public Crate weigh(Crate crate, Kind[] kinds) {
      weighed += crate.items().size() + kinds.length;
      Crate before = last;
      last = crate;
      return before;
    }

    @Accessor
    public String said() {
      return weighed + " " + last;
    }
  }

  /// Makes events of the values themselves.
  static final class Same implements KeyHandler<Object, Object> {
    @Override
    public @Nullable Object handle(Object key, @Nullable Object value, @Nullable Object before) {
      return value;
    }
  }

  /// Has the classes of Stoa alone: those of this test come from the log.
  private static final class WithoutProgram extends ClassLoader {
    private WithoutProgram() {
      super(RegroupedTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith(RegroupedTest.class.getName())) throw new ClassNotFoundException(name);
      return super.loadClass(name, resolve);
    }
  }

  private final List<MemoryDisk> disks = disks(3);

  private static List<MemoryDisk> disks(int count) {
    return IntStream.range(0, count).mapToObj(_ -> new MemoryDisk(256 << 20)).toList();
  }

  private static Device device(MemoryDisk disk) {
    return Device.open(disk, DeviceConfig.standard());
  }

  private static Shelf shelf(Stoa stoa, int number) {
    return stoa.get(Shelf.class, "shelf " + number);
  }

  private static Scale scale(Stoa stoa, int number) {
    return stoa.get(Scale.class, number);
  }

  private static Item item(int number, Object... notes) {
    return new Item("item " + number, Kind.values()[Math.floorMod(number, 2)], List.of(notes));
  }

  private static void fill(Stoa stoa) {
    for (int i = 0; i < SHELVES; i++) {
      // The groups meet names in different orders.
      if (i % 3 == 1) scale(stoa, i).weigh(new Crate(Map.of(item(i), 1L)), Kind.values());
      shelf(stoa, i).put(item(i, i, "note", Kind.DISC, item(-i)));
      shelf(stoa, i).put(item(100 + i));
    }
    for (int i = 0; i < SHELVES; i++) {
      Crate moved = shelf(stoa, i).pass("item " + i, shelf(stoa, (i + 1) % SHELVES));
      scale(stoa, i).weigh(moved, new Kind[] {Kind.BOOK});
      Shelf same = shelf(stoa, i);
      Item here = same.items().values().iterator().next();
      assertThrows(IllegalArgumentException.class, () -> same.put(here));
    }
    for (int i = 0; i < SHELVES; i += 2) {
      Shelf one = shelf(stoa, i);
      Shelf two = shelf(stoa, i + 1);
      int number = i;
      stoa.transact(() -> {
        one.put(item(300 + number));
        two.put(item(300 + number));
      });
    }
    for (int i = 0; i < 40; i++) {
      stoa.map("map " + i % 4, String.class, Object.class).put("key" + i, item(i));
      stoa.store().put("key " + i, i % 2 == 0 ? item(i) : "value" + i);
    }
    for (int i = 0; i < 6; i++) {
      Shelf gone = stoa.get(Shelf.class, "gone " + i);
      gone.put(item(i));
      stoa.delete(gone);
    }
    stoa.get(Shelf.class, "gone 2").put(item(7));
    stoa.history(shelf(stoa, 3)).trim(4);
    var _ = stoa.snapshot("morning");
    stoa.get(Blob.class, "blob").write(0, new byte[] {1, 2, 3});
    for (int i = 0; i < 5; i++) {
      stoa.streams().append(EVENTS, new byte[] {(byte) i});
      stoa.streams().append(StreamKey.of("other " + i), new byte[] {(byte) i});
    }
    stoa.streams().trim(EVENTS, 2);
    shelf(stoa, 0).put(item(400));
  }

  private static List<String> lines(Stoa stoa) {
    var lines = new ArrayList<String>();
    for (Class<?> type : List.of(Shelf.class, Scale.class)) {
      try (var listing = stoa.list(type)) {
        listing.stream().map(one -> stoa.ref(one).toString()).sorted().forEach(lines::add);
      }
    }
    for (int i = 0; i < SHELVES; i++) {
      var history = stoa.history(shelf(stoa, i));
      lines.add(i + ": " + history.version() + " from " + history.oldest());
      for (var entry : history.entries(Math.max(1, history.oldest()), 1_000)) {
        if (entry.version() > history.version()) break;
        lines.add(entry.address() + " " + entry.time() + " " + entry.event());
        Shelf then = history.at(entry.version());
        lines.add(then.items() + " " + then.moves() + " " + then.neighbors());
      }
      Scale scale = scale(stoa, i);
      for (var entry : stoa.history(scale).entries(1, 1_000)) {
        String event = entry.event().toString().replaceAll("Kind;@\\w+", "Kind;");
        lines.add(entry.address() + " " + event);
        lines.add(stoa.history(scale).at(entry.version()).said());
      }
    }
    for (int i = 0; i < 6; i++) {
      var gone = stoa.history(stoa.get(Shelf.class, "gone " + i));
      lines.add(gone.entries(1, 100).toString());
    }
    for (int i = 0; i < 4; i++) {
      lines.add("" + new TreeMap<>(stoa.map("map " + i, String.class, Object.class)));
    }
    for (int i = 0; i < 40; i++) lines.add("" + stoa.store().get("key " + i, Object.class));
    for (var one : stoa.snapshots()) lines.add(one.name() + " " + one.address());
    try (var then = stoa.findSnapshot("morning").orElseThrow()) {
      lines.add("" + then.on(shelf(stoa, 0)).items());
    }
    Blob blob = stoa.get(Blob.class, "blob");
    lines.add(Arrays.toString(blob.read(0, 3)) + blob.version());
    for (var entry : stoa.streams().readAll(EVENTS)) {
      lines.add(entry.address() + " " + entry.log() + " " + Arrays.toString(entry.data()));
    }
    for (int i = 0; i < 5; i++) {
      var only = stoa.streams().readAll(StreamKey.of("other " + i)).getFirst();
      lines.add(only.log() + " " + only.time() + " " + Arrays.toString(only.data()));
    }
    return lines;
  }

  private static void assertSame(List<String> was, List<String> is) {
    for (int i = 0; i < Math.min(was.size(), is.size()); i++) assertEquals(was.get(i), is.get(i));
    assertEquals(was.size(), is.size());
  }

  /// Makes one store of several groups.
  private static MemoryDisk merged(List<MemoryDisk> groups) {
    var whole = new MemoryDisk(256 << 20);
    var devices = groups.stream().map(RegroupedTest::device).toList();
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try {
      Thread.currentThread().setContextClassLoader(new WithoutProgram());
      Merging.run(CONFIG, devices, () -> device(whole));
    } finally {
      Thread.currentThread().setContextClassLoader(before);
      devices.forEach(Device::close);
    }
    checkLog(whole);
    return whole;
  }

  private static List<MemoryDisk> divided(MemoryDisk whole, int count) {
    List<MemoryDisk> groups = disks(count);
    var devices = groups.stream().map(RegroupedTest::device).toList();
    try {
      Spreading.run(CONFIG, () -> device(whole), devices, SlotMap.of(count)::group);
    } finally {
      devices.forEach(Device::close);
    }
    return groups;
  }

  /// Every place in the log has its entry, and streams have no gaps.
  private static void checkLog(MemoryDisk disk) {
    try (Device device = device(disk)) {
      var streams = new Streams(device);
      var last = new HashMap<StreamId, Long>();
      var before = new long[1];
      streams.scanLog(
          Math.max(1, streams.firstInLog()),
          Long.MAX_VALUE,
          item -> {
            assertTrue(item.log().counter() > before[0]);
            before[0] = item.log().counter();
            for (Streams.Place place : item.places()) {
              var entry = streams.read(place.stream(), place.address());
              if (entry == null) {
                assertTrue(place.address() < streams.firstKept(place.stream()), place::toString);
              } else {
                assertEquals(item.log().counter(), entry.log().counter());
              }
              Long earlier = last.put(place.stream(), place.address());
              assertEquals(earlier == null ? 1 : earlier + 1, place.address());
            }
            return true;
          });
      device.withRecords(
          null,
          stream -> {
            if (!Streams.isInternal(stream)) {
              assertEquals(streams.last(stream), last.getOrDefault(stream, 0L), stream::toString);
            }
            return true;
          });
    }
  }

  private static Stoa open(MemoryDisk disk) {
    return EmbeddedEngine.open(CONFIG, disk, Clock.system(), Threads.real());
  }

  /// A restored store goes on where the original was.
  private static void goOn(Stoa stoa) {
    long version = stoa.history(shelf(stoa, 3)).version();
    int number = (int) version + 1_000;
    shelf(stoa, 3).put(item(number, item(501)));
    assertTrue(stoa.history(shelf(stoa, 3)).version() > version);
    shelf(stoa, 3).pass("item " + number, shelf(stoa, 4));
    assertTrue(shelf(stoa, 4).items().containsKey("item " + number));
    Shelf again = stoa.get(Shelf.class, "gone 1");
    again.put(item(number));
    assertTrue(stoa.history(again).version() > 2, "it goes on in its stream");
    stoa.map("map 1", String.class, Object.class).put("new", item(9));
    assertEquals(item(9), stoa.map("map 1", String.class, Object.class).get("new"));
    stoa.streams().append(EVENTS, new byte[] {9});
    assertTrue(shelf(stoa, 4).items().containsKey("item " + number));
  }

  @Test
  void severalGroupsBecomeOneAndAnotherSeveral() throws Exception {
    List<String> before;
    try (var groups = new Groups(CONFIG, disks, 1);
        var stoa = Stoa.open(groups.url())) {
      fill(stoa);
      // Neither a listener nor the session that it belongs to goes on.
      var _ = stoa.store().register("key 1", _ -> {}, new Same());
      stoa.store().put("key 1", item(1));
      before = lines(stoa);
    }

    MemoryDisk whole = merged(disks);
    try (var stoa = open(whole)) {
      assertSame(before, lines(stoa));
    }

    List<MemoryDisk> two = divided(whole, 2);
    List<String> later;
    try (var groups = new Groups(CONFIG, two, 1);
        var stoa = Stoa.open(groups.url())) {
      assertSame(before, lines(stoa));
      goOn(stoa);
      later = lines(stoa);
    }

    // These groups have copies of the earlier names and code, and new ones beside them.
    MemoryDisk again = merged(two);
    try (var stoa = open(again)) {
      assertSame(later, lines(stoa));
      goOn(stoa);
    }
  }

  private static Shelf shelf(Groups groups, Stoa stoa, int group) {
    for (int i = 0; ; i++) {
      if (groups.group(Shelf.class, "shelf " + i) == group) return shelf(stoa, i);
    }
  }

  @Test
  void aCallThatWaitedForAnotherGroupEndsInTheJoinedStore() throws Exception {
    Object from;
    Object to;
    var services = new ConcurrentHashMap<Integer, ObjectService>();
    Groups.Opening opening =
        (group, part) -> {
          ObjectService opened = Groups.part(HASTY, disks.get(group), part);
          services.put(group, opened);
          return opened;
        };
    try (var groups = new Groups(3, 1, opening)) {
      StoaConfig hasty = StoaConfig.of(groups.url()).withLimits(HASTY.limits());
      try (var stoa = Stoa.open(hasty)) {
        Shelf one = shelf(groups, stoa, 1);
        Shelf two = shelf(groups, stoa, 2);
        from = stoa.ref(one).key();
        to = stoa.ref(two).key();
        one.put(item(1, item(2)));
        two.put(item(3));
        ObjectService service = Objects.requireNonNull(services.get(1));
        groups.follow(2, 0);
        Thread.ofVirtual()
            .start(() -> {
              try {
                one.pass("item 1", two);
              } catch (StoaException closed) {
                // The store ends before the call.
              }
            });
        while (service.operator().calls(1).isEmpty()) Thread.onSpinWait();
      }
    }
    try (var stoa = open(merged(disks))) {
      Shelf one = stoa.get(Shelf.class, from);
      Shelf two = stoa.get(Shelf.class, to);
      assertEquals(Set.of(), one.items().keySet());
      assertEquals(Set.of("item 1", "item 3"), two.items().keySet());
      assertEquals(1, one.moves());
    }
  }
}
