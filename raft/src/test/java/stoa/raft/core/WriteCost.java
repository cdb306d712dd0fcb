package stoa.raft.core;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchOutcome;
import stoa.log.Consensus;
import stoa.log.Entry;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.log.ReplicatedBatchLog;
import stoa.log.Sequencer;
import stoa.raft.Member;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.ForwardingDisk;
import stoa.storage.disk.ForwardingFile;

/// Prints what one replica writes for a call, to its log of Raft and to its device, with the log in
/// files and on the device, for docs/decisions/replica-writes.md. A program, not a test: `WriteCost
/// DIRECTORY`.
///
/// There is no network and no other member: a batch is appended to the log, synced, and applied.
final class WriteCost {
  private static final int STREAMS = 100;
  private static final int SNAPSHOT_COMMANDS = 4_096;
  private static final long SNAPSHOT_BYTES = 16 << 20;
  private static final int PAGE_BITS = 12;

  // After so many files, which do not count, files are written again.
  private static final int WARM_FILES = 3;
  private static final int COUNTED_FILES = 2;

  private WriteCost() {}

  /// What was written since the last [#clear].
  private static final class Counts {
    long bytes;
    long zeros;
    long pages;
    long syncs;
    long syncNanos;

    void clear() {
      bytes = 0;
      zeros = 0;
      pages = 0;
      syncs = 0;
      syncNanos = 0;
    }
  }

  /// A disk that counts. Pages count when a file is synced.
  private static final class Counting extends ForwardingDisk {
    final Counts counts = new Counts();

    Counting(Disk disk) {
      super(disk);
    }

    @Override
    protected DiskFile wrap(DiskFile file) {
      Set<Long> changed = new HashSet<>();
      return new ForwardingFile(file) {
        private void touch(long from, long to) {
          for (long page = from >> PAGE_BITS; page <= (to - 1) >> PAGE_BITS; page++)
            changed.add(page);
        }

        @Override
        public void write(long position, ByteBuffer source) throws IOException {
          counts.bytes += source.remaining();
          touch(position, position + source.remaining());
          super.write(position, source);
        }

        @Override
        public void reserve(long from, long to) throws IOException {
          counts.zeros += to - from;
          touch(from, to);
          super.reserve(from, to);
        }

        @Override
        public void sync() throws IOException {
          counts.pages += changed.size();
          changed.clear();
          long begun = System.nanoTime();
          super.sync();
          counts.syncNanos += System.nanoTime() - begun;
          counts.syncs++;
        }
      };
    }
  }

  /// One member, which agrees with itself.
  private static final class Alone implements Consensus {
    private final LogStore log;
    private final Replica replica;
    private int commands;
    private long bytes;

    Alone(LogStore log, Replica replica) {
      this.log = log;
      this.replica = replica;
      replica.advance(log.position());
    }

    @Override
    public Result propose(byte[] command) {
      try {
        var at = new Position(1, log.lastIndex() + 1);
        log.persistLogEntries(
            List.of(new RaftEntry(at.index(), 1, new Payload.Command(1, command))));
        log.flush();
        byte[] answer = replica.apply(at, command);
        commands++;
        bytes += command.length;
        if (commands >= SNAPSHOT_COMMANDS || bytes >= SNAPSHOT_BYTES) {
          log.jump(replica.sync(), log.members());
          commands = 0;
          bytes = 0;
        }
        return new Result.Applied(answer);
      } catch (IOException failed) {
        return new Result.Unknown(new IllegalStateException(failed));
      }
    }

    @Override
    public void confirm() {}

    @Override
    public int commandBytesMax() {
      return Integer.MAX_VALUE;
    }
  }

  public static void main(String[] arguments) throws IOException {
    System.out.println(
        "log, bytes a call, calls a batch, log bytes, log zeros, log KiB of pages, log syncs,"
            + " µs a sync, device bytes, device KiB of pages, device syncs");
    for (Replica.LogPlace logs : Replica.LogPlace.values()) {
      measure(arguments[0], logs, 4 << 20, 100, 1); // smaller files, as it would take too long
      measure(arguments[0], logs, 32 << 20, 100, 24);
      for (int batch : new int[] {1, 24}) measure(arguments[0], logs, 32 << 20, 4 << 10, batch);
    }
  }

  private static LogStore open(Disk disk, Replica replica, Member self, int fileBytes)
      throws IOException {
    var begin = new Position(1, 1);
    ReplicaLog log = replica.log();
    return log == null
        ? LogStore.open(disk, self, begin, List.of(self), fileBytes)
        : LogStore.open(log, self, begin, List.of(self));
  }

  private static void measure(
      String place, Replica.LogPlace logs, int fileBytes, int size, int batch) throws IOException {
    Path directory = Files.createTempDirectory(Path.of(place), "cost");
    var logDisk = new Counting(new FileDisk(directory.resolve("log")));
    var deviceDisk = new Counting(new FileDisk(directory.resolve("device")));
    var self = new Member("a", "host", 1, 2);
    try (var device = Device.open(deviceDisk, DeviceConfig.standard(), Runnable::run);
        var replica = new Replica(device, logs);
        var log = open(logDisk, replica, self, fileBytes)) {
      var owner = ReplicatedBatchLog.open(replica, new Alone(log, replica));
      owner.seal(1);
      var calls = new Calls(owner, size, batch);
      for (long bytes = 0; bytes < (long) WARM_FILES * fileBytes; bytes += calls.bytes)
        calls.make();
      logDisk.counts.clear();
      deviceDisk.counts.clear();
      long made = 0;
      for (long bytes = 0; bytes < (long) COUNTED_FILES * fileBytes; bytes += calls.bytes) {
        calls.make();
        made += batch;
      }
      Counts of = logDisk.counts;
      Counts also = deviceDisk.counts;
      System.out.printf(
          Locale.ROOT,
          "%s | %,d | %d | %.0f | %.0f | %.2f | %.3f | %.0f | %.0f | %.2f | %.5f%n",
          logs,
          size,
          batch,
          (double) of.bytes / made,
          (double) of.zeros / made,
          4.0 * of.pages / made,
          (double) of.syncs / made,
          of.syncNanos / 1e3 / Math.max(1, of.syncs),
          (double) (also.bytes + also.zeros) / made,
          4.0 * also.pages / made,
          (double) also.syncs / made);
    }
  }

  /// Makes batches.
  private static final class Calls {
    private final ReplicatedBatchLog owner;
    private final int size;
    private final int batch;
    private final Sequencer sequencer;
    private final long[] addresses = new long[STREAMS];
    private final Random random = new Random(1);
    private long sequence;

    // About how many bytes a batch takes.
    final long bytes;

    Calls(ReplicatedBatchLog owner, int size, int batch) {
      this.owner = owner;
      this.size = size;
      this.batch = batch;
      this.bytes = (long) batch * (size + 32) + 48;
      this.sequencer = new Sequencer(owner.tail().epoch(), owner.tail().counter());
    }

    void make() {
      var entries = new ArrayList<Entry>(batch);
      for (int i = 0; i < batch; i++) {
        int stream = random.nextInt(STREAMS);
        byte[] payload = new byte[size];
        random.nextBytes(payload);
        entries.add(
            new Entry(new StreamId(7, stream), ++addresses[stream], i, 1, (byte) 1, payload, null));
      }
      owner.append(
          new Batch(sequencer.grant(batch), owner.term(), ++sequence, 1, entries),
          outcome -> {
            if (!(outcome instanceof BatchOutcome.Committed))
              throw new IllegalStateException("" + outcome);
          });
    }
  }
}
