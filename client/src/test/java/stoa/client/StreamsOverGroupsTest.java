package stoa.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import stoa.Appended;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.objects.ObjectService;
import stoa.storage.disk.MemoryDisk;
import stoa.wire.SlotMap;

/// Users' streams in a store of several groups, whose servers come and go.
class StreamsOverGroupsTest {
  private static final int GROUPS = 3;
  private static final SlotMap MAP = SlotMap.of(GROUPS);

  private final Map<Integer, ObjectService> services = new ConcurrentHashMap<>();
  private final List<MemoryDisk> disks =
      IntStream.range(0, GROUPS).mapToObj(_ -> new MemoryDisk(64 << 20)).toList();
  private final Groups groups =
      new Groups(
          GROUPS,
          2,
          (group, part) -> {
            var service = Groups.part(StoaConfig.of("memory:"), disks.get(group), part);
            services.put(group, service);
            return service;
          });
  private final Stoa stoa = Stoa.open(StoaConfig.of(groups.url()));
  private final StreamStore streams = stoa.streams();

  @AfterEach
  void close() {
    stoa.close();
    groups.close();
  }

  /// Returns a stream whose slot is in a group.
  private static StreamKey stream(String name, int group) {
    for (int i = 0; ; i++) {
      StreamKey key = StreamKey.of(name + " " + i);
      if (MAP.group(new StreamId(key.high(), key.low())) == group) return key;
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(StreamEntry entry) {
    return new String(entry.data(), UTF_8);
  }

  private static boolean isData(LogSlot.Written slot) {
    return slot.entries().getFirst().kind() == StreamEntry.Kind.DATA;
  }

  private List<LogSlot.Written> log() {
    var found = new ArrayList<LogSlot.Written>();
    streams.scan(
        StreamStore.BEGINNING,
        streams.tail(),
        slot -> {
          if (isData(slot)) found.add(slot);
          return true;
        });
    return found;
  }

  @Test
  void theStreamsOfAnEarlierReleaseStayInGroup0() {
    StreamKey old = stream("old", 1);
    // Group 0 had all streams.
    ObjectService first = Objects.requireNonNull(services.get(0));
    first.streams().all().append(old, bytes("before"));
    assertEquals(1, streams.check(old));
    assertEquals(2, streams.append(old, bytes("after")).address());
    assertEquals(
        List.of("before", "after"),
        first.streams().all().readAll(old).stream().map(StreamsOverGroupsTest::text).toList());

    StreamKey young = stream("young", 1);
    Appended both = streams.append(Map.of(old, bytes("both"), young, bytes("both")));
    assertEquals(3, both.address(old));
    assertEquals(1, both.address(young));
    assertEquals(0, first.streams().all().check(young));
    assertEquals(1, Objects.requireNonNull(services.get(1)).streams().all().check(young));
    assertEquals(
        List.of(both.log()), streams.readAll(young).stream().map(StreamEntry::log).toList());
    streams.trim(old, 3);
    assertEquals(3, streams.oldest(old));

    // A client of that release asks group 0.
    RemoteStreams asked = RemoteService.of(stoa).first().streams();
    assertEquals(3, asked.check(old));
    var refused = assertThrows(IllegalArgumentException.class, () -> asked.check(young));
    assertTrue(String.valueOf(refused.getMessage()).contains("kept by group 1"));
    assertThrows(
        IllegalArgumentException.class,
        () -> asked.append(List.of(young), List.of(bytes("no"))).get());
  }

  @Test
  void anAppendOverGroupsIsSeenWhole() throws Exception {
    List<StreamKey> keys = IntStream.range(0, GROUPS).mapToObj(i -> stream("whole", i)).toList();
    var over = new AtomicBoolean();
    Thread writer =
        Thread.ofVirtual()
            .start(() -> {
              for (int i = 1; i <= 40; i++) {
                var data = new HashMap<StreamKey, byte[]>();
                for (StreamKey key : keys) data.put(key, bytes("" + i));
                assertEquals(i, streams.append(data).address(keys.get(1)));
              }
              over.set(true);
            });
    while (!over.get()) {
      long seen = 0;
      for (StreamKey key : keys) {
        long now = streams.check(key);
        assertTrue(now >= seen, "a part is missing behind " + seen + " others");
        seen = now;
      }
      log().forEach(slot -> assertEquals(GROUPS, slot.entries().size()));
    }
    writer.join();
    assertEquals(40, log().size());
  }

  @Test
  void appendsOfOneThreadKeepTheirOrderOnEachStream() {
    StreamKey one = stream("order", 1);
    StreamKey two = stream("order", 2);
    var begun = new ArrayList<CompletableFuture<Appended>>();
    for (int i = 0; i < 60; i++) {
      byte[] data = bytes("" + i);
      begun.add(
          i % 5 == 2
              ? streams.appendAsync(Map.of(one, data, two, data))
              : streams.appendAsync(one, data));
    }
    for (int i = 0; i < begun.size(); i++) assertEquals(i + 1, begun.get(i).join().address(one));
    assertEquals(
        IntStream.range(0, 60).mapToObj(i -> "" + i).toList(),
        streams.readAll(one).stream().map(StreamsOverGroupsTest::text).toList());
  }

  @Test
  void eachAppendIsThereOnceThoughGroupsGetOtherOwners() throws Exception {
    int writers = 4;
    List<StreamKey> keys = IntStream.range(0, 6).mapToObj(i -> stream("s" + i, i % 3)).toList();
    var given = new ConcurrentHashMap<String, Appended>();
    Set<String> refused = ConcurrentHashMap.newKeySet();
    var failures = new ConcurrentLinkedQueue<Throwable>();
    var over = new AtomicBoolean();
    var threads = new ArrayList<Thread>();
    for (int w = 0; w < writers; w++) {
      int writer = w;
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  for (int i = 0; !over.get(); i++) {
                    var to = new HashMap<StreamKey, byte[]>();
                    String name = writer + "." + i;
                    to.put(keys.get((i + writer) % 6), bytes(name));
                    if (i % 3 == 0) to.put(keys.get((i + writer + 1) % 6), bytes(name));
                    try {
                      given.put(name, streams.append(to));
                    } catch (Unavailable nothing) {
                      refused.add(name);
                    }
                  }
                } catch (Throwable failed) {
                  failures.add(failed);
                }
              }));
    }
    var followed = new ArrayList<LogSlot.Written>();
    try (var reader = Stoa.open(StoaConfig.of(groups.url()));
        var follower = reader.streams().follow(StreamStore.BEGINNING)) {
      for (int round = 0; round < 6; round++) {
        int enough = given.size() + 12;
        while (given.size() < enough && failures.isEmpty()) {
          follower.next(Duration.ofMillis(20)).filter(s -> isData(s)).ifPresent(followed::add);
        }
        int group = round % 3;
        groups.follow(group, round / 3 % 2);
        groups.lead(group, 1 - round / 3 % 2);
      }
      over.set(true);
      for (Thread thread : threads) thread.join();
      assertEquals(List.of(), List.copyOf(failures));
      List<LogSlot.Written> log = log();
      while (followed.size() < log.size()) {
        LogSlot.Written next = follower.next();
        if (isData(next)) followed.add(next);
      }
      assertEquals(
          log.stream().map(LogSlot::address).toList(),
          followed.stream().map(LogSlot::address).toList());
      requireOnce(log, given, refused, keys);
    }
  }

  private void requireOnce(
      List<LogSlot.Written> log,
      Map<String, Appended> given,
      Set<String> refused,
      List<StreamKey> keys) {
    var found = new TreeMap<String, LogAddress>();
    for (LogSlot.Written slot : log) {
      var places = new ArrayList<Appended.Place>();
      for (StreamEntry entry : slot.entries()) {
        places.add(new Appended.Place(entry.stream(), entry.address()));
      }
      String name = text(slot.entries().getFirst());
      assertNull(found.put(name, slot.address()), name);
      assertTrue(!refused.contains(name), name);
      if (given.containsKey(name)) assertEquals(given.get(name).places(), places, name);
    }
    for (var one : given.entrySet()) assertEquals(one.getValue().log(), found.get(one.getKey()));
    var inStreams = new HashSet<String>();
    for (StreamKey key : keys) {
      long next = 1;
      for (StreamEntry entry : streams.readAll(key)) {
        assertEquals(next++, entry.address());
        inStreams.add(text(entry));
      }
    }
    assertEquals(found.keySet(), inStreams);
  }
}
