package stoa.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Corrupt;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;

class ReplicaLogTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final byte[] MARK = {9};

  // The first batch has the counter after the seal.
  private static final long FIRST = 2;

  private SimulatedDisk disk = new SimulatedDisk(7);
  private Replica replica = open(disk);
  private final TreeMap<Long, byte[]> commands = new TreeMap<>();

  ReplicaLogTest() {
    begin();
  }

  private static Replica open(SimulatedDisk disk) {
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    return new Replica(Device.open(disk, config, Runnable::run), Replica.LogPlace.DEVICE);
  }

  private static ReplicaLog log(Replica replica) {
    return Objects.requireNonNull(replica.log());
  }

  private void begin() {
    append(1, 1, new Command.Open(0));
    append(1, 2, new Command.Seal(1, 1));
    apply(1, 1);
    apply(1, 2);
  }

  private void append(long term, long index, Command command) {
    commands.tailMap(index).clear();
    commands.put(index, command.toBytes());
    log(replica).append(new ReplicaLog.Item.Ordered(new Position(term, index), command.toBytes()));
  }

  private Command.Answer apply(long term, long index) {
    byte[] command = Objects.requireNonNull(commands.get(index));
    return Command.Answer.of(replica.apply(new Position(term, index), command));
  }

  /// Returns a batch, of which each entry has a log address of its own.
  private static Command.Write batch(long sequence, long counter, Entry... entries) {
    var placed = new ArrayList<Entry>();
    for (Entry entry : entries) placed.add(entry.at(placed.size()));
    var token = new Token(new LogAddress(1, counter), entries.length);
    return new Command.Write(new Batch(token, 1, sequence, 1_000, placed));
  }

  private static Entry entry(StreamId stream, long address, int payload, byte @Nullable [] mark) {
    return new Entry(stream, address, 0, 1_000, (byte) 1, new byte[] {(byte) payload}, mark);
  }

  /// Loses power, and opens the replica again.
  private void crash() {
    disk = disk.crash();
    replica = open(disk);
  }

  private static List<Integer> payloads(Replica replica, StreamId stream) {
    var payloads = new ArrayList<Integer>();
    Streams streams = replica.streams();
    streams.scan(
        stream,
        0,
        Long.MAX_VALUE,
        entry -> {
          payloads.add((int) entry.payload()[0]);
          return true;
        });
    assertEquals(payloads.size(), streams.last(stream));
    for (int i = 0; i < payloads.size(); i++) {
      StoredEntry read = Objects.requireNonNull(streams.read(stream, i + 1));
      assertEquals(payloads.get(i), (int) read.payload()[0]);
    }
    assertNull(streams.read(stream, payloads.size() + 1));
    return payloads;
  }

  private List<Integer> payloads(StreamId stream) {
    return payloads(replica, stream);
  }

  @Test
  void hidesABatchUntilItIsApplied() {
    append(
        1, 3, batch(1, FIRST, entry(A, 1, 10, null), entry(A, 2, 11, MARK), entry(B, 1, 12, MARK)));
    append(1, 4, batch(2, FIRST + 3, entry(A, 3, 13, null)));
    assertEquals(List.of(), payloads(A));
    assertEquals(List.of(), payloads(B));
    assertNull(replica.streams().lastMark(A, Long.MAX_VALUE));
    assertNull(replica.streams().at(FIRST));
    assertEquals(1, replica.streams().tail().counter());
    assertInstanceOf(Command.Answer.Done.class, apply(1, 3));
    assertEquals(List.of(10, 11), payloads(A));
    assertEquals(List.of(12), payloads(B));
    assertEquals(2, Objects.requireNonNull(replica.streams().lastMark(A, 9)).address());
    assertEquals(List.of(new Streams.Place(B, 1)), at(FIRST + 2));
    assertEquals(replica.tail(), replica.streams().tail());
    apply(1, 4);
    assertEquals(List.of(10, 11, 13), payloads(A));
  }

  private List<Streams.Place> at(long counter) {
    return Objects.requireNonNull(replica.streams().at(counter)).places();
  }

  /// Requires that the log has some entries, and no others.
  private void assertReadable(long from, long to) {
    List<ReplicaLog.Item> items = log(replica).entries();
    assertEquals(to - from + 1, items.size());
    for (ReplicaLog.Item item : items) {
      var ordered = assertInstanceOf(ReplicaLog.Item.Ordered.class, item);
      assertEquals(from + items.indexOf(item), item.at().index());
      assertArrayEquals(commands.get(item.at().index()), ordered.command());
    }
  }

  @Test
  void anOpenedReplicaHasTheEntriesThatItHasApplied() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, MARK), entry(B, 1, 12, null)));
    append(1, 4, batch(2, FIRST + 2, entry(A, 2, 13, null), entry(A, 3, 14, MARK)));
    append(1, 5, batch(3, FIRST + 4, entry(B, 2, 15, null)));
    apply(1, 3);
    apply(1, 4);
    replica.sync();
    crash();
    assertReadable(1, 5);
    apply(1, 5);
    replica.sync();
    crash();
    assertReadable(1, 5);
    log(replica).head(new byte[] {1}, 3);
    log(replica).sync();
    crash();
    assertReadable(4, 5);
  }

  @Test
  void anOpenedReplicaHidesWhatItHasNotApplied() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, MARK), entry(B, 1, 12, null)));
    append(1, 4, new Command.Trim(1, A, 1));
    append(1, 5, batch(2, FIRST + 2, entry(A, 2, 13, null)));
    log(replica).sync();
    crash();
    assertEquals(List.of(), payloads(A));
    assertReadable(1, 5);
    for (long index = 3; index <= 5; index++) apply(1, index);
    assertEquals(List.of(10, 13), payloads(A));
    assertEquals(List.of(12), payloads(B));
  }

  @Test
  void aCutLeavesNothing() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, null)));
    append(1, 4, batch(2, FIRST + 1, entry(A, 2, 11, MARK), entry(B, 1, 12, null)));
    append(1, 5, batch(3, FIRST + 3, entry(B, 2, 13, null)));
    log(replica).sync();
    log(replica).cut(4);
    log(replica).sync();
    crash();
    assertReadable(1, 3);
    apply(1, 3);
    assertEquals(List.of(10), payloads(A));
    assertEquals(List.of(), payloads(B));
    append(2, 4, batch(2, FIRST + 1, entry(A, 2, 14, null)));
    assertEquals(List.of(10), payloads(A));
    apply(2, 4);
    replica.sync();
    for (int life = 0; life < 2; life++) {
      assertEquals(List.of(10, 14), payloads(A));
      assertEquals(List.of(), payloads(B));
      assertNull(replica.streams().lastMark(A, Long.MAX_VALUE));
      crash();
    }
  }

  @Test
  void aReaderThatHasReadAnEntryBeforeItsCutDoesNotShowIt() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, null), entry(A, 2, 11, null)));
    apply(1, 3);
    append(1, 4, batch(2, FIRST + 2, entry(A, 3, 12, null)));
    var seen = new ArrayList<Long>();
    replica
        .streams()
        .scan(
            A,
            0,
            Long.MAX_VALUE,
            entry -> {
              seen.add(entry.address());
              if (entry.address() == 1) log(replica).cut(4);
              return true;
            });
    assertEquals(List.of(1L, 2L), seen);
  }

  @Test
  void aBatchWithoutEffectCoversNoEntry() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, null)));
    append(1, 4, batch(1, FIRST, entry(A, 1, 66, MARK)));
    apply(1, 3);
    assertEquals(List.of(10), payloads(A));
    assertInstanceOf(Command.Answer.Fenced.class, apply(1, 4));
    assertEquals(List.of(10), payloads(A));
    append(1, 5, new Command.Open(1));
    append(1, 6, batch(2, FIRST + 1, entry(A, 2, 67, null)));
    log(replica).sync();
    apply(1, 5);
    assertInstanceOf(Command.Answer.Fenced.class, apply(1, 6));
    assertEquals(List.of(10), payloads(A));
  }

  @Test
  void writesAnEntryOnce() {
    byte[] payload = new byte[4 << 10];
    var entry = new Entry(A, 1, 0, 1_000, (byte) 1, payload, null);
    long before = replica.device().stats().bytes();
    append(1, 3, batch(1, FIRST, entry));
    apply(1, 3);
    long written = replica.device().stats().bytes() - before;
    assertTrue(written < payload.length + 512, () -> written + " bytes");
  }

  @Test
  void aDamagedBatchThatIsNotAppliedIsNoticed() throws IOException {
    var all = new ArrayList<Integer>();
    for (int i = 0; i < 20; i++) {
      all.add(i);
      Entry first = entry(A, 1 + i, i, i % 3 == 0 ? MARK : null);
      append(1, 3 + i, batch(1 + i, FIRST + 2L * i, first, entry(B, 1 + i, i, null)));
      log(replica).sync();
    }
    var whole = disk.kill();
    int noticed = 0;
    int tried = 0;
    for (int at = 0; at < bytes(whole); at += 5) {
      disk = whole.copy();
      disk.flip("segment-00000001", at, at % 8);
      tried++;
      try {
        replica = open(disk);
        // No later record vouches for the last one, which the consensus gets again.
        for (long index = 3; index <= 22; index++) apply(1, index);
      } catch (StorageException | Corrupt refused) {
        noticed++;
        continue;
      }
      assertEquals(all, payloads(A), "at " + at);
      assertEquals(all, payloads(B), "at " + at);
    }
    int fewest = tried / 2;
    int found = noticed;
    assertTrue(found > fewest, () -> found + " noticed");
  }

  private static long bytes(SimulatedDisk of) throws IOException {
    try (var file = of.open("segment-00000001")) {
      ByteBuffer all = ByteBuffer.allocate((int) file.size());
      while (all.hasRemaining() && file.read(all.position(), all) > 0) {
        // Until all is there.
      }
      int end = all.position();
      while (end > 0 && all.get(end - 1) == 0) end--;
      return end;
    }
  }

  @Test
  void anEntryThatWasReleasedNeedNotBeRead() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, null), entry(A, 2, 11, null)));
    append(1, 4, new Command.Trim(1, A, 2));
    apply(1, 3);
    apply(1, 4);
    append(1, 5, batch(2, FIRST + 2, entry(A, 3, 12, null)));
    log(replica).sync();
    crash();
    List<ReplicaLog.Item> items = log(replica).entries();
    assertEquals(new ReplicaLog.Item.Released(new Position(1, 3)), items.get(2));
    for (long index : new long[] {1, 2, 4, 5}) {
      var item = assertInstanceOf(ReplicaLog.Item.Ordered.class, items.get((int) index - 1));
      assertArrayEquals(commands.get(index), item.command());
    }
    assertEquals(2, replica.streams().last(A));
    apply(1, 5);
    assertEquals(3, replica.streams().last(A));
  }

  private static void catchUp(Replica behind, Replica other) throws IOException {
    try (Supply supply = other.supply()) {
      CatchUp.run(
          behind,
          question -> {
            var answer = new ByteArrayOutputStream();
            supply.answer(question, answer);
            return new ByteArrayInputStream(answer.toByteArray());
          });
    }
  }

  @Test
  void aCatchUpDoesNotMixWithWhatIsNotApplied() throws IOException {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, MARK), entry(B, 1, 11, null)));
    log(replica).sync();
    Replica behind = replica;
    SimulatedDisk itsDisk = disk;
    disk = new SimulatedDisk(8);
    replica = open(disk);
    begin();
    append(2, 3, new Command.Nothing());
    append(2, 4, batch(1, FIRST, entry(A, 1, 20, null)));
    apply(2, 3);
    apply(2, 4);
    append(2, 5, batch(2, FIRST + 1, entry(A, 2, 21, null)));
    catchUp(behind, replica);
    assertEquals(List.of(20), payloads(behind, A));
    assertEquals(List.of(), payloads(behind, B));
    assertNull(behind.streams().lastMark(A, Long.MAX_VALUE));
    assertEquals(new Position(2, 4), behind.applied());
    // The log of the one that was behind has what a jump of the log makes void.
    Replica again = open(itsDisk.crash());
    assertEquals(List.of(20), payloads(again, A));
    assertEquals(3, log(again).entries().size());
    log(again).cut(3);
    assertEquals(List.of(20), payloads(again, A));
    assertEquals(2, log(again).entries().size());
  }

  @Test
  void aRestoredReplicaHasNoneOfWhatItHasNotApplied() {
    log(replica).head(new byte[] {1});
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, null)));
    apply(1, 3);
    append(1, 4, batch(2, FIRST + 1, entry(A, 2, 11, null)));
    log(replica).sync();
    assertNotNull(log(replica).head());
    disk = disk.crash();
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    Device device = Device.open(disk, config, Runnable::run);
    Replica.adopt(device);
    crash();
    assertNull(log(replica).head());
    assertEquals(List.of(), log(replica).entries());
    assertEquals(List.of(10), payloads(A));
    append(2, 4, batch(2, FIRST + 1, entry(A, 2, 12, null)));
    log(replica).sync();
    crash();
    assertReadable(4, 4);
    apply(2, 4);
    assertEquals(List.of(10, 12), payloads(A));
  }

  private Device device() {
    disk = disk.crash();
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    return Device.open(disk, config, Runnable::run);
  }

  @Test
  void aLogOfOneServerBeginsWithWhatTheReplicaHasApplied() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, null)));
    apply(1, 3);
    append(1, 4, batch(2, FIRST + 1, entry(A, 2, 11, MARK), entry(B, 1, 12, null)));
    log(replica).sync();
    assertEquals(1, new Streams(device()).last(A));
    var copy = new Streams(copied(device()));
    assertEquals(1, copy.last(A));
    assertEquals(0, copy.last(B));
    Device cut = device();
    ReplicaLog.cutOff(cut);
    var lone = new LocalBatchLog(cut);
    assertEquals(1, lone.streams().last(A));
    assertEquals(0, lone.streams().last(B));
    var next = batch(2, FIRST + 1, entry(A, 2, 13, null)).batch();
    lone.append(next, outcome -> assertInstanceOf(BatchOutcome.Committed.class, outcome));
    for (int life = 0; life < 2; life++) {
      var streams = new LocalBatchLog(device()).streams();
      assertEquals(13, Objects.requireNonNull(streams.read(A, 2)).payload()[0]);
      assertNull(streams.lastMark(A, Long.MAX_VALUE));
      assertEquals(0, streams.last(B));
    }
  }

  @Test
  void aLogOfOneServerRefusesAReplicaWithCommandsThatItHasNotApplied() {
    append(1, 3, batch(1, FIRST, entry(A, 1, 10, null)));
    apply(1, 3);
    log(replica).append(new ReplicaLog.Item.Own(new Position(1, 4), new byte[] {1}));
    replica.sync();
    assertEquals(1, new LocalBatchLog(device()).streams().last(A));
    crash();
    append(1, 5, batch(2, FIRST + 1, entry(A, 2, 11, null)));
    append(1, 6, new Command.Nothing());
    log(replica).sync();
    var refused = assertThrows(Unavailable.class, () -> new LocalBatchLog(device()));
    assertTrue(String.valueOf(refused.getMessage()).contains("it has 2 commands"));
    crash();
    replica.advance(new Position(1, 4));
    apply(1, 5);
    apply(1, 6);
    replica.sync();
    assertEquals(2, new LocalBatchLog(device()).streams().last(A));
  }

  @Test
  void anEntryHasNoMarkWithoutBytes() {
    assertThrows(IllegalArgumentException.class, () -> entry(A, 1, 10, new byte[0]));
  }

  private static Device copied(Device from) {
    ReplicaLog.cutOff(from);
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    Device to = Device.open(new SimulatedDisk(9), config, Runnable::run);
    StreamCopy.stream(from, to, A);
    StreamCopy.stream(from, to, B);
    return to;
  }

  @Test
  void aReplicaNotesWhereItsLogIs() {
    byte[] record = Objects.requireNonNull(replica.device().read(Replica.RECORD, 0, 0));
    assertEquals(2, record[0]);
    replica.sync();
    disk = disk.crash();
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    assertNotNull(new Replica(Device.open(disk, config, Runnable::run)).log());
    var files = new Replica(Device.open(new SimulatedDisk(1), config, Runnable::run));
    assertNull(files.log());
    files.advance(new Position(1, 1));
    files.sync();
    assertEquals(1, Objects.requireNonNull(files.device().read(Replica.RECORD, 0, 0))[0]);
  }
}
