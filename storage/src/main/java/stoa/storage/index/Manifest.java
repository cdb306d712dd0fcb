package stoa.storage.index;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.Disk;
import stoa.storage.disk.TornWrite;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.SegmentLog;

/// The list of the index's runs, and the part of the log that they cover. Immutable.
///
/// @param covered the log position up to which the runs have every entry; everything below it is
///   durable
/// @param nextRun a number that no run file has had
/// @param runs the runs, newest first
public record Manifest(long covered, int nextRun, List<Item> runs) {
  private static final long MAGIC = 0x53544f414d414e49L; // STOAMANI
  private static final int VERSION = 1;
  private static final int FIXED = 32;
  private static final int ITEM = 8;

  /// A run and its number of blocks.
  public record Item(int number, int blocks) {}

  /// Replaces the manifest of a disk by this one, durably. After an exception either one is there.
  void write(Disk disk) throws IOException {
    var bytes = new byte[FIXED + ITEM * runs.size() + 4];
    EncodedNumbers.putLong(bytes, 0, MAGIC);
    EncodedNumbers.putInt(bytes, 8, VERSION);
    EncodedNumbers.putInt(bytes, 12, bytes.length);
    EncodedNumbers.putLong(bytes, 16, covered);
    EncodedNumbers.putInt(bytes, 24, nextRun);
    EncodedNumbers.putInt(bytes, 28, runs.size());
    int at = FIXED;
    for (var item : runs) {
      EncodedNumbers.putInt(bytes, at, item.number());
      EncodedNumbers.putInt(bytes, at + 4, item.blocks());
      at += ITEM;
    }
    EncodedNumbers.putInt(bytes, at, RecordFormat.checksum(new CRC32C(), bytes, 0, at));
    var unfinished = DeviceFiles.MANIFEST + DeviceFiles.UNFINISHED;
    if (disk.list().contains(unfinished)) disk.delete(unfinished);
    try (var file = disk.create(unfinished)) {
      file.write(0, ByteBuffer.wrap(bytes));
      file.sync();
    } catch (TornWrite e) {
      throw e.nothingWritten(); // the next write replaces it
    }
    disk.rename(unfinished, DeviceFiles.MANIFEST);
    disk.syncDirectory();
  }

  /// Returns the manifest of a disk, or null when there is no whole one.
  public static @Nullable Manifest read(Disk disk, List<String> names) throws IOException {
    if (!names.contains(DeviceFiles.MANIFEST)) return null;
    try (var file = disk.open(DeviceFiles.MANIFEST)) {
      long size = file.size();
      if (size < FIXED + 4 || size > FIXED + 4 + (64 << 10)) return null;
      var bytes = new byte[(int) size];
      if (!SegmentLog.readFully(file, 0, bytes, 0, bytes.length)) return null;
      return decode(disk, bytes);
    }
  }

  private static @Nullable Manifest decode(Disk disk, byte[] bytes) {
    int end = bytes.length - 4;
    boolean whole =
        EncodedNumbers.getLong(bytes, 0) == MAGIC
            && EncodedNumbers.getInt(bytes, 12) == bytes.length
            && EncodedNumbers.getInt(bytes, end)
                == RecordFormat.checksum(new CRC32C(), bytes, 0, end);
    if (!whole) return null;
    int version = EncodedNumbers.getInt(bytes, 8);
    if (version != VERSION) {
      throw new UnknownFormat(
          "%s in %s has format version %d; this program reads version %d: use the program that wrote it"
              .formatted(DeviceFiles.MANIFEST, disk.place(), version, VERSION));
    }
    int count = EncodedNumbers.getInt(bytes, 28);
    var runs = new ArrayList<Item>();
    for (int i = 0; i < count; i++) {
      int at = FIXED + i * ITEM;
      runs.add(new Item(EncodedNumbers.getInt(bytes, at), EncodedNumbers.getInt(bytes, at + 4)));
    }
    return new Manifest(
        EncodedNumbers.getLong(bytes, 16), EncodedNumbers.getInt(bytes, 24), List.copyOf(runs));
  }
}
