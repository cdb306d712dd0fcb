package stoa.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Corrupt;
import stoa.base.StreamId;
import stoa.log.Layout.Copies;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.MemoryDisk;

class GlobalLogTest {
  private static final DeviceConfig SMALL = new DeviceConfig(64 << 10, 4 << 10, 4 << 10, 8 << 10);
  private static final StreamId NAME = StreamId.of("a test");
  private static final List<StreamId> STREAMS =
      IntStream.range(0, 12).mapToObj(i -> StreamId.of("s" + i)).toList();

  /// A log on disks in memory, with a leader that proposes to it.
  private static final class World {
    private final Layout layout;
    private final List<Disk> disks = new ArrayList<>();
    private final Map<StreamId, List<String>> expected = new HashMap<>();
    private GlobalLog log;
    private Sequencer sequencer;
    private long sequence;

    World(int shards, Copies copies) {
      layout = new Layout(shards, copies);
      for (int i = 0; i < shards; i++) disks.add(new MemoryDisk(64 << 20));
      log = open();
      log.seal(1);
      sequencer = sequencer();
    }

    private Sequencer sequencer() {
      sequence = 0;
      return new Sequencer(log.tail().epoch(), log.tail().counter());
    }

    private GlobalLog open() {
      var devices = new ArrayList<Device>();
      try {
        for (Disk disk : disks) devices.add(Device.open(disk, SMALL, Runnable::run));
        return GlobalLog.open(layout, NAME, devices);
      } catch (RuntimeException failed) {
        devices.forEach(Device::close);
        throw failed;
      }
    }

    void reopen() {
      log.close();
      log = open();
      sequencer = sequencer();
    }

    Streams streams() {
      return log.streams();
    }

    /// Proposes a batch with an entry for each stream; those of one are one append.
    BatchOutcome append(List<List<StreamId>> appends, int bytes) {
      var entries = new ArrayList<Entry>();
      var next = new HashMap<StreamId, Long>();
      for (int offset = 0; offset < appends.size(); offset++) {
        for (StreamId stream : appends.get(offset)) {
          long address = next.merge(stream, size(stream) + 1L, (a, _) -> a + 1);
          byte[] payload = (address + " " + "x".repeat(bytes)).getBytes(UTF_8);
          byte[] mark = address % 5 == 1 ? ("mark " + address).getBytes(UTF_8) : null;
          entries.add(new Entry(stream, address, offset, address, (byte) 1, payload, mark));
        }
      }
      Token token = sequencer.grant(Math.max(1, appends.size()));
      var batch = new Batch(token, log.term(), ++sequence, 7, entries, new byte[] {9});
      var outcomes = new ArrayList<BatchOutcome>();
      log.append(batch, outcomes::add);
      if (outcomes.getFirst() instanceof BatchOutcome.Refused) sequencer.takeBack(token);
      if (outcomes.getFirst() instanceof BatchOutcome.Committed) note(batch);
      return outcomes.getFirst();
    }

    private void note(Batch batch) {
      for (Entry entry : batch.entries()) {
        expected
            .computeIfAbsent(entry.stream(), _ -> new ArrayList<>())
            .add(new String(entry.payload(), UTF_8));
      }
    }

    private int size(StreamId stream) {
      return expected.getOrDefault(stream, List.of()).size();
    }

    void appendAtRandom(int batches, Random random) {
      for (int i = 0; i < batches; i++) {
        var appends = new ArrayList<List<StreamId>>();
        for (int j = random.nextInt(4); j > 0; j--) {
          var streams = new ArrayList<StreamId>();
          for (int k = random.nextInt(1, 3); k > 0; k--) {
            streams.add(STREAMS.get(random.nextInt(STREAMS.size())));
          }
          appends.add(streams);
        }
        assertInstanceOf(BatchOutcome.Committed.class, append(appends, random.nextInt(300)));
      }
    }

    /// Everything is there: in the streams, and where the log says.
    void check() {
      var found = new HashMap<Streams.Place, Long>();
      streams()
          .scanLog(
              0,
              Long.MAX_VALUE,
              item -> {
                for (Streams.Place place : item.places()) found.put(place, item.log().counter());
                assertEquals(item, streams().at(item.log().counter()));
                return true;
              });
      int entries = 0;
      for (StreamId stream : STREAMS) {
        List<String> texts = expected.getOrDefault(stream, List.of());
        assertEquals(texts, texts(streams(), stream));
        assertEquals(texts.size(), streams().last(stream));
        for (long at = Math.max(1, streams().firstKept(stream)); at <= texts.size(); at++) {
          var entry = Objects.requireNonNull(streams().read(stream, at));
          assertEquals(found.get(new Streams.Place(stream, at)), entry.log().counter());
          assertEquals(at, entry.nowMicros());
          var mark = Objects.requireNonNull(streams().lastMark(stream, at));
          assertEquals("mark " + mark.address(), new String(mark.data(), UTF_8));
          assertEquals((at - 1) / 5 * 5 + 1, mark.address());
        }
        entries += texts.size();
      }
      assertEquals(entries, found.size());
    }

    void lose(int shard) {
      log.close();
      disks.set(shard, new MemoryDisk(64 << 20));
      log = open();
      sequencer = sequencer();
    }

    /// Spoils everything that a shard has written so far.
    void spoil(int shard) throws IOException {
      Disk disk = disks.get(shard);
      for (String name : disk.list()) {
        if (!name.startsWith("segment")) continue;
        try (var file = disk.open(name)) {
          for (long at = 512; at < file.size(); at += 64) {
            file.write(at, ByteBuffer.wrap(new byte[] {(byte) at, 1, 2, 3}));
          }
        }
      }
    }

    void close() {
      log.close();
    }
  }

  private static List<String> texts(Streams streams, StreamId stream) {
    var texts = new ArrayList<String>();
    streams.scan(stream, 1, Long.MAX_VALUE, entry -> texts.add(new String(entry.payload(), UTF_8)));
    return texts;
  }

  private static StreamId ofShard(Layout layout, int shard) {
    return STREAMS.stream().filter(s -> layout.shard(s) == shard).findFirst().orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({"1,REFERENCE", "2,REFERENCE", "5,REFERENCE", "2,FULL", "5,FULL"})
  void batchesOverShardsAreInTheirStreamsAndInTheLog(int shards, Copies copies) {
    var world = new World(shards, copies);
    for (int i = 0; i < 4; i++) {
      world.appendAtRandom(60, new Random(i));
      world.check();
      world.reopen();
      world.check();
    }
    world.close();
  }

  @ParameterizedTest
  @CsvSource({"2,0", "2,1", "3,0", "3,1", "3,2"})
  void aShardThatIsLostIsMadeAgainOfTheOthers(int shards, int lost) {
    var world = new World(shards, Copies.FULL);
    world.appendAtRandom(150, new Random(shards + lost));
    world.lose(lost);
    world.check();
    world.appendAtRandom(50, new Random(lost));
    // The lost shard's copies of the others are there again too, so that another may be lost.
    world.lose((lost + 1) % shards);
    world.check();
    world.reopen();
    world.check();
    world.close();
  }

  @Test
  void aShardThatWasTrimmedIsMadeAgainAsItWas() {
    var world = new World(3, Copies.FULL);
    world.appendAtRandom(300, new Random(1));
    for (StreamId stream : STREAMS) {
      world.streams().checkpoint(stream, 8, ("state of " + stream).getBytes(UTF_8));
      world.streams().trim(stream, 9);
    }
    world.streams().sync();
    for (int lost = 0; lost < 6; lost++) {
      world.lose(lost % 3);
      for (StreamId stream : STREAMS) {
        assertEquals(9, world.streams().oldest(stream));
        assertEquals(8, world.streams().firstKept(stream));
        var mark = Objects.requireNonNull(world.streams().lastMark(stream, 9));
        assertEquals(6, mark.address());
        var checkpoint = Objects.requireNonNull(world.streams().lastCheckpoint(stream, 9));
        assertEquals("state of " + stream, new String(checkpoint.data(), UTF_8));
        assertNull(world.streams().read(stream, 7));
        List<String> texts = Objects.requireNonNull(world.expected.get(stream));
        assertEquals(texts.subList(7, texts.size()), texts(world.streams(), stream));
      }
    }
    world.close();
  }

  @Test
  void aShardThatIsLostWithoutCopiesIsToldOf() {
    var world = new World(3, Copies.REFERENCE);
    world.appendAtRandom(20, new Random(1));
    var told = assertThrows(Corrupt.class, () -> world.lose(1));
    assertTrue(String.valueOf(told.getMessage()).contains("{1}"), told::getMessage);
  }

  @Test
  void twoShardsThatAreLostAreToldOf() {
    var world = new World(3, Copies.FULL);
    world.appendAtRandom(20, new Random(1));
    world.disks.set(0, new MemoryDisk(1 << 20));
    assertThrows(Corrupt.class, () -> world.lose(1));
  }

  @Test
  void refusesAnotherLayoutAndShardsInAnotherOrder() {
    var world = new World(2, Copies.REFERENCE);
    world.appendAtRandom(20, new Random(1));
    world.close();
    var other = new World(2, Copies.FULL);
    other.close();
    var told =
        assertThrows(
            IllegalArgumentException.class,
            () -> {
              other.disks.set(0, world.disks.get(0));
              other.disks.set(1, world.disks.get(1));
              other.open();
            });
    assertTrue(String.valueOf(told.getMessage()).contains("2 shards and copies reference"));
    world.disks.addFirst(world.disks.removeLast());
    assertThrows(Corrupt.class, world::open);
  }

  @ParameterizedTest
  @EnumSource(Copies.class)
  void aFullShardEndsTheLogUntilThereIsRoom(Copies copies) throws IOException {
    var world = new World(2, copies);
    StreamId small = ofShard(world.layout, 1);
    StreamId large = ofShard(world.layout, 0);
    world.close();
    world.disks.set(0, new MemoryDisk(64 << 20));
    world.disks.set(1, new MemoryDisk(400 << 10));
    world.log = world.open();
    world.log.seal(1);
    world.sequencer = world.sequencer();
    BatchOutcome outcome = new BatchOutcome.Committed();
    // The record of each is in the first shard, by its counter, and a part in the second.
    for (int i = 0; outcome instanceof BatchOutcome.Committed; i++) {
      boolean first = (world.sequencer.last() + 1) % 2 == 0;
      if (i > 0 && !first) outcome = world.append(List.of(List.of(large)), 1);
      else outcome = world.append(List.of(List.of(small, large)), 20_000);
    }
    assertInstanceOf(BatchOutcome.Unknown.class, outcome);
    long end = world.log.tail().counter();
    // Nothing more is written, wherever it goes.
    assertInstanceOf(BatchOutcome.Unknown.class, world.append(List.of(List.of(large)), 1));
    assertEquals(end, world.log.tail().counter());
    world.log.close();
    assertThrows(DiskFull.class, world::open);
    Disk roomy = new MemoryDisk(64 << 20);
    copy(world.disks.get(1), roomy);
    world.disks.set(1, roomy);
    world.log = world.open();
    // The one of unknown outcome was committed by its record, and is whole.
    assertEquals(world.size(small) + 1, world.streams().last(small));
    assertEquals(world.size(large) + 1, world.streams().last(large));
    var last = Objects.requireNonNull(world.streams().at(world.log.tail().counter()));
    assertEquals(
        List.of(
            new Streams.Place(small, world.size(small) + 1),
            new Streams.Place(large, world.size(large) + 1)),
        last.places());
    world.close();
  }

  @Test
  void aFullShardRefusesWhatIsItsAloneAndTheOthersGoOn() {
    var world = new World(2, Copies.REFERENCE);
    StreamId small = ofShard(world.layout, 1);
    StreamId large = ofShard(world.layout, 0);
    world.close();
    world.disks.set(0, new MemoryDisk(64 << 20));
    world.disks.set(1, new MemoryDisk(400 << 10));
    world.log = world.open();
    world.log.seal(1);
    world.sequencer = world.sequencer();
    BatchOutcome outcome = new BatchOutcome.Committed();
    while (outcome instanceof BatchOutcome.Committed) {
      outcome = world.append(List.of(List.of(small)), 20_000);
    }
    assertInstanceOf(BatchOutcome.Refused.class, outcome);
    for (int i = 0; i < 10; i++) {
      assertInstanceOf(BatchOutcome.Committed.class, world.append(List.of(List.of(large)), 20_000));
    }
    world.check();
    world.close();
  }

  private static void copy(Disk from, Disk to) throws IOException {
    for (String name : from.list()) {
      try (var source = from.open(name);
          var target = to.create(name)) {
        var bytes = ByteBuffer.allocate((int) source.size());
        while (bytes.hasRemaining() && source.read(bytes.position(), bytes) >= 0) {
          // Up to the end of the file.
        }
        target.write(0, bytes.flip());
      }
    }
  }

  @Test
  void aDamagedShardIsReadFromTheLogUnits() throws IOException {
    var world = new World(3, Copies.FULL);
    world.appendAtRandom(200, new Random(4));
    world.spoil(1);
    world.check();
    // Appends go on, also to the streams of the damaged shard.
    world.appendAtRandom(20, new Random(5));
    world.check();
  }

  @Test
  void aDamagedShardWithoutCopiesIsToldOf() throws IOException {
    var world = new World(3, Copies.REFERENCE);
    world.appendAtRandom(200, new Random(4));
    world.spoil(1);
    StreamId stream = ofShard(world.layout, 1);
    assertThrows(Corrupt.class, () -> texts(world.streams(), stream));
    StreamId other = ofShard(world.layout, 2);
    assertEquals(world.expected.get(other), texts(world.streams(), other));
  }
}
