package stoa.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.TooOld;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;

class StreamsTrimTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final byte[] DATA = {1, 2, 3};

  private final SimulatedDisk disk = new SimulatedDisk(7);
  private LocalBatchLog log = open(disk);
  private long sequence;

  private static LocalBatchLog open(SimulatedDisk disk) {
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    return new LocalBatchLog(Device.open(disk, config, Runnable::run));
  }

  /// Appends a batch in which each entry has a log address of its own, and some have marks.
  private void append(StreamId stream, long from, long to, long... marked) {
    var entries = new ArrayList<Entry>();
    for (long address = from; address <= to; address++) {
      byte @Nullable [] mark = null;
      for (long at : marked) {
        if (at == address) mark = DATA;
      }
      int offset = (int) (address - from);
      entries.add(new Entry(stream, address, offset, 1_000 * address, (byte) 1, DATA, mark));
    }
    BatchLog.Tail tail = log.tail();
    var token = new Token(new LogAddress(tail.epoch(), tail.counter() + 1), (int) (to - from + 1));
    var batch = new Batch(token, log.term(), ++sequence, 1_000 * to, entries);
    log.append(batch, outcome -> assertInstanceOf(BatchOutcome.Committed.class, outcome));
  }

  private static List<Long> addresses(Streams streams, StreamId stream) {
    var addresses = new ArrayList<Long>();
    streams.scan(stream, 0, Long.MAX_VALUE, entry -> addresses.add(entry.address()));
    return addresses;
  }

  private static List<Long> range(long from, long to) {
    var addresses = new ArrayList<Long>();
    for (long address = from; address <= to; address++) addresses.add(address);
    return addresses;
  }

  @Test
  void ofAStreamWithoutMarksTheEntriesInFrontGo() {
    append(A, 1, 100);
    append(B, 1, 10);
    Streams streams = log.streams();
    assertEquals(0, streams.oldest(A));
    assertEquals(0, streams.firstKept(A));
    streams.trim(A, 40);
    streams.trim(A, 30);
    assertEquals(40, streams.oldest(A));
    assertEquals(40, streams.firstKept(A));
    assertEquals(range(40, 100), addresses(streams, A));
    assertNull(streams.read(A, 39));
    assertNotNull(streams.read(A, 40));
    assertEquals(100, streams.last(A));
    assertEquals(range(1, 10), addresses(streams, B));
  }

  @Test
  void whatTheStateIsMadeFromStays() {
    append(A, 1, 100, 1, 20, 30);
    Streams streams = log.streams();
    streams.checkpoint(A, 25, DATA);
    streams.checkpoint(A, 50, DATA);
    streams.checkpoint(A, 80, DATA);
    trimmed(10, 1, 1, 0);
    trimmed(24, 20, 20, 0);
    trimmed(29, 25, 20, 25);
    trimmed(40, 30, 30, 0); // the checkpoint is of an earlier beginning
    trimmed(79, 50, 30, 50);
    trimmed(80, 80, 30, 80);
    trimmed(100, 80, 30, 80);
  }

  private void trimmed(long before, long base, long mark, long checkpoint) {
    Streams streams = log.streams();
    assertEquals(base, streams.base(A, before));
    streams.trim(A, before);
    assertEquals(before, streams.oldest(A));
    assertEquals(base, streams.firstKept(A));
    assertEquals(range(base, 100), addresses(streams, A));
    var lastMark = streams.lastMark(A, before);
    assertEquals(mark, lastMark == null ? 0 : lastMark.address());
    assertNull(streams.lastMark(A, mark - 1));
    var last = streams.lastCheckpoint(A, before);
    assertEquals(checkpoint, last == null ? 0 : last.address());
    if (checkpoint > 0) assertNull(streams.lastCheckpoint(A, checkpoint - 1));
  }

  @Test
  void aLogAddressIsReleasedOrAHoleOrNotYetWritten() {
    append(A, 1, 10);
    log.seal(1);
    sequence = 0;
    append(A, 11, 20);
    append(A, 21, 30);
    Streams streams = log.streams();
    assertEquals(0, streams.firstInLog());
    streams.trimLog(15); // in the midst of a batch, which stays
    assertEquals(12, streams.firstInLog());
    var told = assertThrows(TooOld.class, () -> streams.at(11));
    assertEquals(11, told.version());
    assertEquals(12, told.oldest());
    assertThrows(TooOld.class, () -> streams.scanLog(11, 40, _ -> true));
    var item = streams.at(12);
    assertEquals(List.of(new Streams.Place(A, 11)), item == null ? List.of() : item.places());
    assertNull(streams.at(32));
    streams.trimLog(Long.MAX_VALUE);
    assertEquals(22, streams.firstInLog(), "the last batch tells where the log ends");
    assertEquals(range(1, 30), addresses(streams, A));
    var again = open(disk.crash());
    assertEquals(31, again.tail().counter());
  }

  @Test
  void aSealIsAHole() {
    append(A, 1, 10);
    log.seal(1);
    var hole = log.streams().at(11);
    assertEquals(List.of(), hole == null ? null : hole.places());
    assertNull(log.streams().at(12));
  }

  @Test
  void theFirstBatchSinceATimeIsFound() {
    for (int i = 0; i < 10; i++) append(A, 10 * i + 1, 10 * i + 10);
    Streams streams = log.streams();
    assertEquals(1, streams.firstSince(0));
    assertEquals(1, streams.firstSince(10_000));
    assertEquals(11, streams.firstSince(10_001));
    assertEquals(91, streams.firstSince(100_000));
    assertEquals(101, streams.firstSince(100_001));
    streams.trimLog(55);
    assertEquals(51, streams.firstSince(0));
    assertEquals(91, streams.firstSince(100_000));
  }

  @Test
  void afterAPowerLossATrimIsThereOrNotAndSoAreTheOnesBefore() {
    var seen = new TreeSet<Long>();
    for (int seed = 0; seed < 60; seed++) {
      var mine = new SimulatedDisk(seed);
      log = open(mine);
      sequence = 0;
      append(A, 1, 100, 1);
      Streams streams = log.streams();
      streams.checkpoint(A, 40, DATA);
      streams.trim(A, 45);
      streams.sync();
      streams.checkpoint(A, 60, DATA);
      streams.trim(A, 70);
      var after = open(mine.crash()).streams();
      long oldest = after.oldest(A);
      seen.add(oldest);
      long base = oldest == 45 ? 40 : 60;
      assertEquals(base, after.firstKept(A), "oldest is " + oldest);
      assertEquals(range(base, 100), addresses(after, A));
      var checkpoint = after.lastCheckpoint(A, oldest);
      assertEquals(base, checkpoint == null ? 0 : checkpoint.address());
    }
    assertEquals(List.of(45L, 70L), List.copyOf(seen));
  }
}
