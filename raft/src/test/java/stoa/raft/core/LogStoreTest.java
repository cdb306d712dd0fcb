package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.microraft.MembershipChangeMode;
import io.microraft.model.log.LogEntry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Corrupt;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchOutcome;
import stoa.log.Consensus;
import stoa.log.Entry;
import stoa.log.LocalBatchLog;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.log.ReplicatedBatchLog;
import stoa.log.Token;
import stoa.raft.Member;
import stoa.sim.world.PoweredDevice;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;
import stoa.storage.segment.Commit;

class LogStoreTest {
  private static final Member A = new Member("a", "host", 1, 2);
  private static final Member B = new Member("b", "host", 3, 4);
  private static final Position BEGIN = new Position(1, 1);

  private static LogStore open(SimulatedDisk disk) throws IOException {
    return open(disk, Replica.LogPlace.FILES);
  }

  private static LogStore open(SimulatedDisk disk, Replica.LogPlace place) throws IOException {
    return open(disk, place, List.of(A, B));
  }

  private static LogStore open(SimulatedDisk disk, Replica.LogPlace place, List<Member> first)
      throws IOException {
    if (place == Replica.LogPlace.FILES) return LogStore.open(disk, A, BEGIN, first, 2_000);
    Device device = Device.open(disk, PoweredDevice.SMALL, Runnable::run);
    var log = Objects.requireNonNull(new Replica(device, place).log());
    return LogStore.open(log, A, BEGIN, first);
  }

  private static List<LogEntry> entries(int term, long from, long to) {
    return entries(term, from, to, 3);
  }

  private static List<LogEntry> entries(int term, long from, long to, int size) {
    var entries = new ArrayList<LogEntry>();
    for (long index = from; index <= to; index++) {
      byte[] bytes = new byte[size];
      Arrays.fill(bytes, (byte) 7);
      bytes[0] = (byte) index;
      entries.add(new RaftEntry(index, term, new Payload.Command(term, bytes)));
    }
    return entries;
  }

  private static void vote(LogStore store, int term, Member member) throws IOException {
    store.persistAndFlushTerm(
        Models.ALL
            .createRaftTermPersistentStateBuilder()
            .setTerm(term)
            .setVotedFor(new Endpoint(member))
            .build());
  }

  @ParameterizedTest
  @EnumSource
  void hasAfterALossOfPowerWhatWasSynced(Replica.LogPlace place) throws IOException {
    for (int seed = 0; seed < 60; seed++) {
      var disk = new SimulatedDisk(seed);
      var store = open(disk, place);
      vote(store, 3, B);
      store.persistLogEntries(entries(3, 2, 60));
      store.truncateLogEntriesFrom(51);
      store.persistLogEntries(entries(4, 51, 100));
      store.flush();
      store.persistLogEntries(entries(4, 101, 140));
      disk = disk.crash();
      for (int life = 0; life < 2; life++) {
        var again = open(disk, place);
        assertEquals(BEGIN, again.position());
        assertTrue(again.lastIndex() >= 100, "lost entries");
        assertEquals(3, again.termAt(50));
        assertEquals(4, again.termAt(51));
        var restored = again.restored();
        assertEquals(3, restored.getTermPersistentState().getTerm());
        assertEquals(new Endpoint(B), restored.getTermPersistentState().getVotedFor());
        assertTrue(restored.getLocalEndpointPersistentState().isVoting());
        disk = disk.crash();
      }
    }
  }

  @Test
  void forgetsFilesOfWhichNothingIsNeeded() throws IOException {
    var disk = new SimulatedDisk(1);
    var store = open(disk);
    for (int i = 0; i < 40; i++) {
      store.persistLogEntries(entries(1, 2 + 50L * i, 51 + 50L * i));
      store.flush();
    }
    int before = disk.list().size();
    assertTrue(before > 10, "it has " + before + " files");
    store.jump(new Position(1, 1_990), store.members());
    assertTrue(disk.list().size() < 4, "it has " + disk.list());
    assertEquals(2_001, store.lastIndex());
    store.close();
    var again = open(disk.kill());
    assertEquals(new Position(1, 1_990), again.position());
    assertEquals(2_001, again.lastIndex());
    assertEquals(11, again.entries().size());
  }

  @ParameterizedTest
  @EnumSource
  void aJumpToAnotherEntryVoidsTheRest(Replica.LogPlace place) throws IOException {
    var disk = new SimulatedDisk(2);
    var store = open(disk, place);
    store.persistLogEntries(entries(1, 2, 30));
    store.jump(new Position(2, 20), store.members());
    assertEquals(20, store.lastIndex());
    store.persistLogEntries(entries(2, 21, 22));
    store.flush();
    var again = open(disk.crash(), place);
    assertEquals(22, again.lastIndex());
    assertEquals(2, again.termAt(21));
  }

  @ParameterizedTest
  @EnumSource
  void writesNothingAfterAFailedSync(Replica.LogPlace place) throws IOException {
    var disk = new SimulatedDisk(3);
    var store = open(disk, place);
    store.persistLogEntries(entries(1, 2, 3));
    disk.failSync(0);
    var failed = assertThrows(IOException.class, store::flush);
    assertSame(failed, store.failure());
    assertThrows(IOException.class, store::flush);
    assertThrows(IOException.class, () -> store.persistLogEntries(entries(1, 4, 4)));
  }

  @ParameterizedTest
  @EnumSource
  void goesOnWhenThereIsRoomAgain(Replica.LogPlace place) throws IOException {
    var disk = new SimulatedDisk(4);
    var store = open(disk, place);
    store.persistLogEntries(entries(1, 2, 10));
    store.flush();
    disk.limit(disk.bytes() + 20);
    assertThrows(
        IOException.class,
        () -> {
          store.persistLogEntries(entries(1, 11, 1_000));
          store.flush();
        });
    var later = disk.kill();
    var again = open(later, place);
    assertTrue(again.lastIndex() >= 10);
  }

  @Test
  void refusesADamagedFileThatALaterOneVouchesFor() throws IOException {
    var disk = new SimulatedDisk(5);
    var store = open(disk);
    for (int i = 0; i < 4; i++) {
      store.persistLogEntries(entries(1, 2 + 50L * i, 51 + 50L * i));
      store.flush();
    }
    disk.flip(disk.list().getFirst(), 400, 3);
    var after = disk.kill();
    var refused = assertThrows(Corrupt.class, () -> open(after));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("is damaged at byte"), refused::toString);
  }

  @Test
  void noticesADamagedEntryOnADevice() throws IOException {
    var disk = new SimulatedDisk(5);
    var store = open(disk, Replica.LogPlace.DEVICE);
    int last = 30;
    for (int index = 2; index <= last; index++) {
      store.persistLogEntries(entries(1, index, index));
      store.flush();
    }
    var whole = disk.kill();
    int bytes = segment(whole).length;
    int noticed = 0;
    for (int at = 0; at < bytes; at += 3) {
      var damaged = whole.copy();
      damaged.flip("segment-00000001", at, at % 8);
      LogStore again;
      try {
        again = open(damaged, Replica.LogPlace.DEVICE);
      } catch (StorageException | Corrupt refused) {
        noticed++;
        continue;
      }
      // No later record vouches for the last one.
      String where = "at " + at;
      assertTrue(again.lastIndex() >= last - 1, where);
      assertEquals(contents(entries(1, 2, again.lastIndex())), contents(again.entries()), where);
    }
    assertTrue(noticed > bytes / 6, "noticed: " + noticed + " of " + bytes / 3);
  }

  /// Returns the bytes of the first segment, without zeros at its end.
  private static byte[] segment(SimulatedDisk disk) throws IOException {
    try (DiskFile file = disk.open("segment-00000001")) {
      ByteBuffer all = ByteBuffer.allocate((int) file.size());
      while (all.hasRemaining() && file.read(all.position(), all) > 0) {
        // Until all is there.
      }
      int end = all.position();
      while (end > 0 && all.get(end - 1) == 0) end--;
      return Arrays.copyOf(all.array(), end);
    }
  }

  /// Appends and flushes, forgets the first files and begins others, until the disk fails. Returns
  /// the last index that was flushed.
  private static long untilItFails(SimulatedDisk disk, int rounds) throws IOException {
    long flushed = BEGIN.index();
    try (var store = open(disk)) {
      for (int i = 0; i < rounds; i++) {
        long from = store.lastIndex() + 1;
        store.persistLogEntries(entries(1, from, from + 19));
        store.flush();
        flushed = from + 19;
        if (i % 5 == 4) store.jump(new Position(1, flushed - 10), store.members());
      }
      assertTrue(store.reused() > 2, () -> "it has reused " + store.reused() + " files");
    } catch (IOException powerLost) {
      assertTrue(String.valueOf(powerLost.getMessage()).contains("lost power"));
    }
    return flushed;
  }

  @Test
  void losesNothingWherePowerFailsAmongFilesThatAreWrittenAgain() throws IOException {
    int rounds = 60;
    var whole = new SimulatedDisk(7);
    assertEquals(1 + 20L * rounds, untilItFails(whole, rounds));
    for (int change = 0; change < whole.changes(); change++) {
      var disk = new SimulatedDisk(change);
      disk.losePowerAfter(change);
      long flushed = untilItFails(disk, rounds);
      disk = disk.crash();
      for (int life = 0; life < 2; life++) {
        try (var again = open(disk)) {
          long last = again.lastIndex();
          assertTrue(last >= flushed, () -> flushed + " were flushed, and it has " + last);
          assertTrue(again.position().index() <= flushed);
          for (long index = again.firstIndex(); index <= last; index++) {
            var item = again.entries().get((int) (index - again.firstIndex()));
            var command = (Payload.Command) item.operation();
            assertEquals((byte) index, command.bytes()[0]);
          }
        }
        disk = disk.crash();
      }
    }
  }

  /// Appends, cuts, flushes and forgets on a device, until the disk fails. Returns the indexes of
  /// the entries that were flushed, with their terms.
  private static SortedMap<Long, Integer> untilTheDeviceFails(SimulatedDisk disk, int rounds)
      throws IOException {
    var flushed = new TreeMap<Long, Integer>();
    var random = new Random(1);
    try {
      LogStore store = open(disk, Replica.LogPlace.DEVICE);
      for (int round = 1; round <= rounds; round++) {
        long begin = store.position().index();
        if (store.lastIndex() > begin + 2 && random.nextInt(3) == 0) {
          long from = begin + 1 + random.nextInt((int) (store.lastIndex() - begin));
          flushed.tailMap(from).clear();
          store.truncateLogEntriesFrom(from);
        }
        long from = store.lastIndex() + 1;
        store.persistLogEntries(entries(round, from, from + random.nextInt(8)));
        store.flush();
        for (long index = from; index <= store.lastIndex(); index++) flushed.put(index, round);
        if (round % 7 == 0) {
          long to = begin + random.nextInt((int) (store.lastIndex() - begin) + 1);
          store.jump(new Position(store.termAt(to), to), store.members());
        }
      }
    } catch (IOException | StorageException powerLost) {
      assertTrue(String.valueOf(powerLost).contains("lost power"), powerLost::toString);
    }
    return flushed;
  }

  @Test
  void losesNothingWherePowerFailsOnADevice() throws IOException {
    int rounds = 60;
    var whole = new SimulatedDisk(7);
    assertFalse(untilTheDeviceFails(whole, rounds).isEmpty());
    for (int change = 0; change < whole.changes(); change++) {
      var disk = new SimulatedDisk(change);
      disk.losePowerAfter(change);
      var flushed = untilTheDeviceFails(disk, rounds);
      disk = disk.crash();
      for (int life = 0; life < 2; life++) {
        LogStore again = open(disk, Replica.LogPlace.DEVICE);
        long begin = again.position().index();
        flushed
            .tailMap(begin + 1)
            .forEach((index, term) -> {
              assertEquals(term, again.termAt(index));
            });
        for (RaftEntry entry : again.entries()) {
          assertEquals((byte) entry.index(), ((Payload.Command) entry.operation()).bytes()[0]);
        }
        disk = disk.crash();
      }
    }
  }

  /// Begins a log in files, with a vote, entries that take the place of others, and a jump.
  private static void fill(SimulatedDisk disk) throws IOException {
    try (var store = open(disk)) {
      vote(store, 3, B);
      store.persistLogEntries(entries(3, 2, 150));
      store.flush();
      store.jump(new Position(3, 100), store.members());
      store.truncateLogEntriesFrom(121);
      store.persistLogEntries(entries(4, 121, 160));
      store.flush();
    }
  }

  private static void requireFilled(LogStore store) {
    assertEquals(new Position(3, 100), store.position());
    var expected = new ArrayList<LogEntry>(entries(3, 101, 120));
    expected.addAll(entries(4, 121, 160));
    assertEquals(contents(expected), contents(store.entries()));
    var term = store.restored().getTermPersistentState();
    assertEquals(3, term.getTerm());
    assertEquals(new Endpoint(B), term.getVotedFor());
  }

  @Test
  void movesALogFromFilesToADeviceWhereverPowerFails() throws IOException {
    for (int change = 0; ; change++) {
      var files = new SimulatedDisk(1);
      fill(files);
      files = files.kill();
      var disk = new SimulatedDisk(change);
      disk.losePowerAfter(change);
      boolean isMoved = false;
      try (Device device = Device.open(disk, PoweredDevice.SMALL, Runnable::run)) {
        LogStore.move(files, device);
        isMoved = true;
      } catch (StorageException powerLost) {
        assertTrue(LogStore.exists(files), powerLost::toString);
      }
      disk = disk.crash();
      for (int life = 0; life < 2; life++) {
        try (Device device = Device.open(disk, PoweredDevice.SMALL, Runnable::run)) {
          if (life == 0) LogStore.move(files, device);
          assertFalse(LogStore.exists(files));
          var log = Objects.requireNonNull(new Replica(device).log());
          requireFilled(LogStore.open(log, A, BEGIN, List.of(A, B)));
        }
        disk = disk.crash();
      }
      if (isMoved) return;
    }
  }

  @Test
  void filesThatComeBackAfterAMoveAreOld() throws IOException {
    var files = new SimulatedDisk(1);
    fill(files);
    files = files.kill();
    var disk = new SimulatedDisk(2);
    try (Device device = Device.open(disk, PoweredDevice.SMALL, Runnable::run)) {
      LogStore.move(files, device);
      var log = Objects.requireNonNull(new Replica(device).log());
      var store = LogStore.open(log, A, BEGIN, List.of(A, B));
      vote(store, 5, A);
    }
    var again = new SimulatedDisk(1);
    fill(again);
    again = again.kill();
    try (Device device = Device.open(disk.crash(), PoweredDevice.SMALL, Runnable::run)) {
      LogStore.move(again, device);
      assertFalse(LogStore.exists(again));
      var log = Objects.requireNonNull(new Replica(device).log());
      var store = LogStore.open(log, A, BEGIN, List.of(A, B));
      assertEquals(5, store.restored().getTermPersistentState().getTerm());
    }
  }

  /// Begins a log in files with entries of some size after a position.
  private static SimulatedDisk files(Position after, int count, int size) throws IOException {
    var files = new SimulatedDisk(1);
    int term = Math.toIntExact(after.term());
    try (var store = LogStore.open(files, A, after, List.of(A, B), 1 << 20)) {
      store.persistLogEntries(entries(term, after.index() + 1, after.index() + count, size));
      store.flush();
    }
    return files.kill();
  }

  // After a move that broke off, an earlier version may have gone on with the files.
  @Test
  void aMoveThatBrokeOffLeavesNothingForALaterOne() throws IOException {
    var config = new DeviceConfig(1 << 20);
    int brokenOff = 0;
    for (int change = 0; ; change++) {
      var disk = new SimulatedDisk(change);
      disk.losePowerAfter(change);
      try (Device device = Device.open(disk, config, Runnable::run)) {
        LogStore.move(files(BEGIN, 30, 100 << 10), device);
        break;
      } catch (StorageException powerLost) {
        brokenOff++;
      }
      disk = disk.crash();
      var later = new Position(5, 10);
      try (Device device = Device.open(disk, config, Runnable::run)) {
        if (ReplicaLog.isOn(device)) continue;
        LogStore.move(files(later, 4, 3), device);
      }
      for (int life = 0; life < 2; life++) {
        disk = disk.crash();
        try (Device device = Device.open(disk, config, Runnable::run)) {
          var log = Objects.requireNonNull(new Replica(device).log());
          var store = LogStore.open(log, A, BEGIN, List.of(A, B));
          assertEquals(later, store.position());
          assertEquals(contents(entries(5, 11, 14)), contents(store.entries()));
        }
      }
    }
    assertTrue(brokenOff > 5, "it broke off " + brokenOff + " times");
  }

  /// A member that agrees with itself: it appends, syncs and applies.
  private static final class Alone implements Consensus {
    private final LogStore store;
    private final Replica replica;
    final List<LogEntry> proposed = new ArrayList<>();
    int term = 1;

    Alone(LogStore store, Replica replica) {
      this.store = store;
      this.replica = replica;
      replica.advance(store.position());
    }

    void append(Object operation) throws IOException {
      var entry = new RaftEntry(store.lastIndex() + 1, term, operation);
      proposed.add(entry);
      store.persistLogEntries(List.of(entry));
      store.flush();
    }

    @Override
    public Result propose(byte[] command) {
      try {
        append(new Payload.Command(term, command));
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
      return new Result.Applied(replica.apply(new Position(term, store.lastIndex()), command));
    }

    @Override
    public void confirm() {}

    @Override
    public int commandBytesMax() {
      return Integer.MAX_VALUE;
    }
  }

  private static final StreamId STREAM = StreamId.of("a stream");

  private static void write(ReplicatedBatchLog log, long address) {
    long counter = log.tail().counter() + 1;
    var token = new Token(new LogAddress(log.tail().epoch(), counter), 1);
    var entry = new Entry(STREAM, address, 0, 1, (byte) 1, new byte[] {(byte) address}, null);
    var batch = new Batch(token, log.term(), address, 1, List.of(entry));
    log.append(batch, outcome -> assertInstanceOf(BatchOutcome.Committed.class, outcome));
  }

  private static RaftEntry removal(long index, int term, Member left) {
    var removed =
        Models.ALL
            .createUpdateRaftGroupMembersOpBuilder()
            .setMembers(List.of(new Endpoint(left)))
            .setVotingMembers(List.of(new Endpoint(left)))
            .setEndpoint(new Endpoint(B))
            .setMode(MembershipChangeMode.REMOVE_MEMBER)
            .build();
    return new RaftEntry(index, term, removed);
  }

  @ParameterizedTest
  @EnumSource
  void anOpenedLogHasTheEntriesSinceTheLastSnapshotThatItsReplicaHasApplied(Replica.LogPlace place)
      throws IOException {
    var files = new SimulatedDisk(1);
    var disk = new SimulatedDisk(2);
    var replica = new Replica(Device.open(disk, PoweredDevice.SMALL, Runnable::run), place);
    var alone = new Alone(open(files, replica), replica);
    var log = ReplicatedBatchLog.open(replica, alone);
    log.seal(1);
    for (int address = 1; address <= 4; address++) write(log, address);
    alone.term = 2;
    for (int address = 5; address <= 8; address++) write(log, address);
    replica.sync();
    for (int life = 0; life < 2; life++) {
      files = files.crash();
      disk = disk.crash();
      var again = open(files, new Replica(Device.open(disk, PoweredDevice.SMALL, Runnable::run)));
      assertEquals(BEGIN, again.position());
      assertEquals(contents(alone.proposed), contents(again.entries()));
      assertEquals(1, again.termAt(7));
      assertEquals(2, again.termAt(8));
    }
  }

  private static LogStore open(SimulatedDisk files, Replica replica) throws IOException {
    ReplicaLog log = replica.log();
    return log == null
        ? LogStore.open(files, A, BEGIN, List.of(A, B), 2_000)
        : LogStore.open(log, A, BEGIN, List.of(A, B));
  }

  @Test
  void anOpenedLogBeginsBehindWhatItsReplicaHasReleasedAndKnowsTheTermsBefore() throws IOException {
    var disk = new SimulatedDisk(2);
    var replica =
        new Replica(Device.open(disk, PoweredDevice.SMALL, Runnable::run), Replica.LogPlace.DEVICE);
    var alone = new Alone(open(disk, replica), replica);
    var log = ReplicatedBatchLog.open(replica, alone);
    log.seal(1);
    write(log, 1);
    alone.append(removal(5, 1, A).operation());
    replica.advance(new Position(1, 5));
    alone.term = 2;
    for (int address = 2; address <= 6; address++) write(log, address);
    log.streams().trim(STREAM, 4);
    replica.sync();
    for (int life = 0; life < 3; life++) {
      disk = disk.crash();
      var opened = new Replica(Device.open(disk, PoweredDevice.SMALL, Runnable::run));
      var again = open(disk, opened);
      assertEquals(new Position(2, 7), again.position());
      assertEquals(8, again.firstIndex());
      assertEquals(List.of(new Endpoint(A)), List.copyOf(again.members().getMembers()));
      assertEquals(5, again.members().getLogIndex());
      assertEquals(contents(alone.proposed.subList(6, 10)), contents(again.entries()));
      for (long index = 2; index <= 11; index++) {
        assertEquals(index < 6 ? 1 : 2, again.termAt(index));
      }
      assertEquals(0, again.termAt(12));
      vote(again, 10 + life, A);
    }
  }

  @Test
  void refusesFilesThatComeAfterTheLogHasBegunOnTheDevice() throws IOException {
    var files = new SimulatedDisk(1);
    fill(files);
    var late = files.kill();
    try (Device device = Device.open(new SimulatedDisk(2), PoweredDevice.SMALL, Runnable::run)) {
      LogStore.begin(device);
      LogStore.begin(device);
      assertThrows(Unavailable.class, () -> LogStore.move(late, device));
      assertTrue(LogStore.exists(late));
      LogStore.move(new SimulatedDisk(3), device);
    }
  }

  @Test
  void beginsNoLogOnTheDeviceOfALoneStore() throws IOException {
    var files = new SimulatedDisk(1);
    fill(files);
    var kept = files.kill();
    try (Device device = Device.open(new SimulatedDisk(2), PoweredDevice.SMALL, Runnable::run)) {
      var alone = new LocalBatchLog(device);
      alone.seal(1);
      assertThrows(IllegalStateException.class, () -> LogStore.begin(device));
      assertThrows(IllegalStateException.class, () -> LogStore.move(kept, device));
      assertFalse(ReplicaLog.isOn(device));
      assertTrue(LogStore.exists(kept));
    }
  }

  @Test
  void movesNoLogToTheDeviceOfALaterVersion() throws IOException {
    StreamId record = StreamId.of("stoa/replica");
    var files = new SimulatedDisk(1);
    fill(files);
    files = files.kill();
    try (Device device = Device.open(new SimulatedDisk(2), PoweredDevice.SMALL, Runnable::run)) {
      byte[] later = {3, 7, 1, 0};
      device.append(new Commit().write(record, 0, 0, later, 0, later.length));
      var kept = files;
      assertThrows(IllegalStateException.class, () -> LogStore.move(kept, device));
      assertThrows(IllegalStateException.class, () -> LogStore.begin(device));
      assertArrayEquals(later, device.read(record, 0, 0));
      assertTrue(LogStore.exists(files));
    }
  }

  @Test
  void aReusedFileHasNoneOfItsEarlierEntries() throws IOException {
    var disk = new SimulatedDisk(8);
    var store = open(disk);
    while (store.reused() == 0) {
      long from = store.lastIndex() + 1;
      store.persistLogEntries(entries(1, from, from + 19));
      store.flush();
      store.jump(new Position(1, from + 19), store.members());
    }
    long last = store.lastIndex();
    store.close();
    try (var again = open(disk.kill())) {
      assertEquals(last, again.lastIndex());
    }
  }

  @Test
  void givesUpItsSpareFileWhenTheDiskIsFull() throws IOException {
    var disk = new SimulatedDisk(9);
    var store = open(disk);
    while (!disk.list().contains("spare")) {
      long from = store.lastIndex() + 1;
      store.persistLogEntries(entries(1, from, from + 19));
      store.flush();
      store.jump(new Position(1, from + 19), store.members());
    }
    disk.limit(disk.bytes() + 500);
    store.persistLogEntries(entries(1, store.lastIndex() + 1, store.lastIndex() + 110));
    store.flush();
    assertFalse(disk.list().contains("spare"));
    assertNull(store.failure());
  }

  private static List<String> contents(List<? extends LogEntry> entries) {
    return entries.stream()
        .map(entry ->
            entry.getIndex()
                + " "
                + entry.getTerm()
                + " "
                + Arrays.toString(((Payload.Command) entry.getOperation()).bytes()))
        .toList();
  }

  /// A file of format 3: members A and B, term 3 with a vote, the entries 2 to 40 of that term, and
  /// those from 31 to 41 of term 4 in place of the last ones.
  @Test
  void readsTheSampleOfAFile() throws IOException {
    var disk = new SimulatedDisk(12);
    try (var sample = LogStoreTest.class.getResourceAsStream("format-3.log");
        DiskFile file = disk.create("log-0000000000000001")) {
      file.write(0, ByteBuffer.wrap(Objects.requireNonNull(sample).readAllBytes()));
      file.sync();
    }
    disk.syncDirectory();
    var expected = new ArrayList<LogEntry>(entries(3, 2, 30));
    expected.addAll(entries(4, 31, 41));
    for (int life = 0; life < 2; life++) {
      try (var again = open(disk)) {
        assertEquals(BEGIN, again.position());
        assertEquals(contents(expected), contents(again.entries()));
        var term = again.restored().getTermPersistentState();
        assertEquals(3, term.getTerm());
        assertEquals(new Endpoint(B), term.getVotedFor());
      }
    }
  }

  /// Rewrites the files as an earlier version wrote them: without their numbers in the checksums.
  private static SimulatedDisk unnumbered(SimulatedDisk disk) throws IOException {
    var earlier = new SimulatedDisk(1);
    for (String name : disk.list()) {
      try (DiskFile from = disk.open(name);
          DiskFile to = earlier.create(name)) {
        ByteBuffer all = ByteBuffer.allocate((int) from.size());
        while (all.hasRemaining()) from.read(all.position(), all);
        all.putLong(8, 1);
        var sum = new CRC32C();
        for (int at = 32; at < all.capacity() - 8 && all.getInt(at) > 0; ) {
          int length = all.getInt(at);
          sum.reset();
          sum.update(all.array(), at + 8, length);
          all.putInt(at + 4, (int) sum.getValue());
          at += 8 + length;
        }
        to.write(0, all.flip().limit(all.capacity()));
        to.sync();
      }
    }
    earlier.syncDirectory();
    return earlier;
  }

  @Test
  void readsTheFilesOfAnEarlierVersion() throws IOException {
    var disk = new SimulatedDisk(10);
    var store = open(disk);
    vote(store, 3, B);
    for (int i = 0; i < 4; i++) {
      store.persistLogEntries(entries(3, 2 + 50L * i, 51 + 50L * i));
      store.flush();
    }
    store.close();
    var earlier = unnumbered(disk.kill());
    assertTrue(earlier.list().size() > 1, "it has " + earlier.list());
    for (int life = 0; life < 2; life++) {
      try (var again = open(earlier)) {
        assertEquals(201, again.lastIndex());
        assertEquals(3, again.restored().getTermPersistentState().getTerm());
        assertEquals(200, again.entries().size());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aMemberThatWaitsToBeAddedHasNotJoined(Replica.LogPlace place) throws IOException {
    var disk = new SimulatedDisk(6);
    var store = open(disk, place, List.of());
    assertFalse(store.isJoined());
    assertEquals(Position.START, store.position());
    store.added(12);
    store.jump(
        new Position(1, 10), Codec.view(9, List.of(new Endpoint(B)), List.of(new Endpoint(B))));
    assertFalse(store.isJoined());
    store.persistLogEntries(entries(1, 11, 12));
    store.flush();
    assertTrue(store.isJoined());
    store.close();
    assertTrue(open(disk.kill(), place, List.of()).isJoined());
  }
}
