package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;
import stoa.log.Token;
import stoa.objects.BackupService.Taken;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.segment.Retired;

/// Backups of a device that reclaims segments between them, and while they are copied.
class BackupReclaimTest {
  private static final StreamId STREAM = StreamId.of("stream");
  private static final int SEGMENT_BYTES = 256 << 10;
  private static final int ENTRY_BYTES = 4 << 10;
  private static final int ENTRIES = 400;

  @TempDir private Path directory;
  private Device device;
  private LocalBatchLog log;
  private long sequence;

  @BeforeEach
  void open() {
    device =
        Device.open(
            new FileDisk(directory.resolve("data")),
            new DeviceConfig(SEGMENT_BYTES),
            Runnable::run);
    log = new LocalBatchLog(device);
    log.seal(1);
  }

  @AfterEach
  void close() {
    log.close();
  }

  /// Appends entries, each filled with the last byte of its address.
  private void append() {
    for (int i = 0; i < ENTRIES; i++) {
      long address = log.streams().last(STREAM) + 1;
      var data = new byte[ENTRY_BYTES];
      java.util.Arrays.fill(data, (byte) address);
      var entry = new Entry(STREAM, address, 0, 1_000 * address, (byte) 16, data, null);
      var token = new Token(new LogAddress(1, log.tail().counter() + 1), 1);
      log.append(
          new Batch(token, log.term(), ++sequence, 1_000 * address, List.of(entry)),
          outcome -> assertInstanceOf(BatchOutcome.Committed.class, outcome));
    }
  }

  private void reclaim() {
    log.streams().trim(STREAM, log.streams().last(STREAM));
    while (device.maintain()) {
      // Until nothing is left to do.
    }
  }

  private BackupFolder folder() {
    return new BackupFolder(directory.resolve("kept"));
  }

  private void restored(String at, long last) {
    Path to = directory.resolve("restored " + at);
    var restoring = new Restoring(folder(), at);
    Restoring.begin(to);
    restoring.write(0, to);
    Restoring.end(to);
    try (var found = Device.open(new FileDisk(to), DeviceConfig.standard())) {
      var streams = new Streams(found);
      assertEquals(last, streams.last(STREAM));
      byte[] payload = Objects.requireNonNull(streams.read(STREAM, last)).payload();
      var expected = new byte[ENTRY_BYTES];
      java.util.Arrays.fill(expected, (byte) last);
      assertArrayEquals(expected, payload);
    }
  }

  @Test
  void earlierBackupsStayAndMomentsBetweenThemGoWhenSegmentsAreReclaimed() {
    append();
    BackupPoint first = folder().take(new BackupSource.Stored(device), 10, 0).point();
    append();
    long between = log.tail().counter() - ENTRIES / 2;
    append();
    reclaim();
    BackupPoint second = folder().take(new BackupSource.Stored(device), 10, 0).point();

    restored(Long.toString(first.address()), ENTRIES);
    restored(Long.toString(first.address() - 10), ENTRIES - 10);
    restored(Long.toString(second.address()), 3 * ENTRIES);
    var gone =
        assertThrows(IllegalArgumentException.class, () -> new Restoring(folder(), "" + between));
    String told = String.valueOf(gone.getMessage());
    assertTrue(told.contains("was reclaimed before a backup came"), told);
    assertTrue(told.contains("; " + first.address() + " of "), told);
    for (BackupPoint point : folder().points()) {
      assertEquals(List.of(), folder().verify(point));
    }
    // The folder drops the files of a backup that it drops.
    append();
    var third = folder().take(new BackupSource.Stored(device), 1, 0);
    assertEquals(List.of(third.point()), folder().points());
    assertEquals(List.of(), folder().verify(third.point()));
    restored(Long.toString(third.point().address()), 4 * ENTRIES);
  }

  /// A source that reclaims what it was to copy, once.
  private final class Reclaiming implements BackupSource {
    private final BackupSource source = new BackupSource.Stored(device);
    private boolean done;

    @Override
    public int groups() {
      return 1;
    }

    @Override
    public Taken take(int group, long address) {
      return source.take(group, address);
    }

    @Override
    public <T> T copy(int group, Taken taken, Work<T> work) {
      if (!done) reclaim();
      done = true;
      return work.with((segment, at, length) -> {
        var bytes = new byte[length];
        try {
          device.copy(segment, at, ByteBuffer.wrap(bytes));
        } catch (Retired reclaimed) {
          throw new Unavailable("segment " + segment + " was reclaimed", reclaimed);
        }
        return bytes;
      });
    }

    @Override
    public void close() {}
  }

  @Test
  void aBackupBeginsAgainWhenASegmentWasReclaimedBeforeItWasCopied() {
    append();
    append();
    BackupPoint point = folder().take(new Reclaiming(), 10, 0).point();
    assertTrue(point.bytes() < ENTRIES * ENTRY_BYTES, "it has what was reclaimed");
    assertEquals(List.of(), folder().verify(point));
    restored(Long.toString(point.address()), 2 * ENTRIES);
  }
}
