package stoa.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.log.BatchLog;
import stoa.log.ReplicaLog;
import stoa.log.Streams;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.Disk;
import stoa.storage.segment.SegmentHeader;
import stoa.storage.upkeep.SegmentWalk;
import stoa.storage.upkeep.Survey;

/// Reads segments, verifies and counts them, and finds where the log is to end.
final class BackupCut {
  private static final long TOLD_BYTES = 256 << 10;

  private BackupCut() {}

  /// The segment of a log that ends before its first batch beyond an address.
  ///
  /// @param file what counts of it
  /// @param isCut whether it ends before such a batch
  /// @param hasLog whether there is something of the log of a replica's consensus
  record Counted(BackupPoint.Segment file, boolean isCut, boolean hasLog) {}

  /// Counts a segment up to its first batch beyond an address.
  ///
  /// @param bytes how many of its first bytes count without a cut
  /// @throws stoa.storage.disk.StorageException when it is damaged, or cannot be read
  static Counted count(Disk disk, int number, long bytes, long address) {
    return count(disk, number, bytes, address, _ -> {});
  }

  /// Counts a segment like [#count(Disk, int, long, long)].
  ///
  /// @param reads receives how many bytes were read, now and then
  static Counted count(Disk disk, int number, long bytes, long address, LongConsumer reads) {
    String name = DeviceFiles.segment(number);
    SegmentHeader header = SegmentWalk.header(disk, name);
    var counts = new Counts(header.bytes(), tail -> tail <= address, reads);
    SegmentWalk.of(disk, name, bytes, counts);
    boolean cut = counts.beyond != null;
    return new Counted(
        new BackupPoint.Segment(
            number,
            header.base(),
            cut ? counts.end : bytes,
            counts.records,
            counts.items,
            counts.last,
            counts.micros),
        cut,
        counts.hasLog);
  }

  /// Returns the first log address of the first batch that was made after a time; [Long#MAX_VALUE]
  /// when there is none.
  static long firstAfter(Disk disk, List<BackupPoint.Segment> files, long micros) {
    for (BackupPoint.Segment file : files) {
      if (file.micros() <= micros) continue;
      String name = DeviceFiles.segment(file.number());
      var found = new long[] {Long.MAX_VALUE};
      SegmentWalk.of(
          disk,
          name,
          file.bytes(),
          new SegmentWalk.Visitor() {
            @Override
            public void record(StreamId object, int space, long offset, Survey.Bytes data)
                throws IOException {
              if (!Streams.isHeader(object, space) || found[0] < Long.MAX_VALUE) return;
              if (Streams.tail(offset, data.get()).nowMicros() > micros) found[0] = offset;
            }

            @Override
            public boolean recordEnd(long at, int items) {
              return found[0] == Long.MAX_VALUE;
            }
          });
      if (found[0] < Long.MAX_VALUE) return found[0];
    }
    return Long.MAX_VALUE;
  }

  /// Cuts the log in some files before its first batch beyond an address.
  ///
  /// @param files ascending, as many as there are
  /// @return what counts of them
  /// @throws IllegalArgumentException when there is no longer all that counted at that address
  static List<BackupPoint.Segment> cut(Disk disk, List<BackupPoint.Segment> files, long address) {
    var kept = new ArrayList<BackupPoint.Segment>();
    for (BackupPoint.Segment file : files) {
      if (file.last() <= address) {
        kept.add(file);
        continue;
      }
      Counted counted = count(disk, file.number(), file.bytes(), address);
      kept.add(counted.file());
      if (counted.isCut()) break;
    }
    return live(disk, kept);
  }

  /// Returns those of some segments that the last one names, and itself.
  ///
  /// @throws IllegalArgumentException when one is missing
  static List<BackupPoint.Segment> live(Disk disk, List<BackupPoint.Segment> files) {
    BackupPoint.Segment last = files.getLast();
    Set<Integer> named = new HashSet<>();
    SegmentHeader header = SegmentWalk.header(disk, DeviceFiles.segment(last.number()));
    for (SegmentHeader.Live one : header.live()) named.add(one.number());
    var live = new ArrayList<BackupPoint.Segment>();
    for (BackupPoint.Segment file : files) if (named.remove(file.number())) live.add(file);
    live.add(last);
    if (named.isEmpty()) return live;
    throw new IllegalArgumentException("the segments " + named + " are missing");
  }

  /// Counts the records of a segment.
  private static final class Counts implements SegmentWalk.Visitor {
    private final LongPredicate counts;
    private final LongConsumer reads;
    private long told;
    private long end;
    private long records;
    private long items;
    private long last;
    private long micros;
    private boolean hasLog;

    // The end of the log after the first batch that does not count.
    private BatchLog.@Nullable Tail beyond;

    // The same, with the record in progress.
    private long lastNow;
    private long microsNow;

    /// @param end where the first record begins
    /// @param counts whether a batch with that last address counts
    /// @param reads receives how many bytes were read, now and then
    Counts(long end, LongPredicate counts, LongConsumer reads) {
      this.end = end;
      this.counts = counts;
      this.reads = reads;
    }

    @Override
    public void record(StreamId object, int space, long offset, Survey.Bytes data)
        throws IOException {
      hasLog |= ReplicaLog.isOf(object);
      if (!Streams.isHeader(object, space)) return;
      BatchLog.Tail tail = Streams.tail(offset, data.get());
      if (!counts.test(tail.counter())) {
        beyond = tail;
        return;
      }
      lastNow = Math.max(lastNow, tail.counter());
      microsNow = Math.max(microsNow, tail.nowMicros());
    }

    @Override
    public boolean recordEnd(long at, int count) {
      if (beyond != null) {
        end = at;
        return false;
      }
      if (at - told >= TOLD_BYTES) {
        reads.accept(at - told);
        told = at;
      }
      records++;
      items += count;
      last = lastNow;
      micros = microsNow;
      return true;
    }
  }
}
