package stoa.storage.upkeep;

import java.io.IOException;
import stoa.base.StreamId;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.Disk;
import stoa.storage.disk.ReadFailed;
import stoa.storage.segment.Item;
import stoa.storage.segment.ItemVisitor;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.RecordWalk;
import stoa.storage.segment.Segment;
import stoa.storage.segment.SegmentFiles;
import stoa.storage.segment.SegmentHeader;
import stoa.storage.segment.SegmentLog;
import stoa.storage.segment.SegmentReader;

/// Reads one segment of a device that no process has open, and verifies all of it.
public final class SegmentWalk {
  private SegmentWalk() {}

  /// Receives what is in a segment.
  public interface Visitor {
    /// Receives an extent of a record space.
    ///
    /// @param data returns a copy of it, during the call
    void record(StreamId object, int space, long offset, Survey.Bytes data) throws IOException;

    /// Receives the end of a record of the log.
    ///
    /// @param at the position of the record in the file
    /// @param items how many items it has
    /// @return whether to go on
    boolean recordEnd(long at, int items);
  }

  /// Reads the header of a segment.
  ///
  /// @throws stoa.storage.disk.CorruptData when it is damaged
  /// @throws ReadFailed when the disk cannot be read
  public static SegmentHeader header(Disk disk, String name) {
    try {
      return SegmentLog.newest(disk, name);
    } catch (IOException e) {
      throw unreadable(disk, name, e);
    }
  }

  /// Visits the records of a segment, each after it was verified.
  ///
  /// @param bytes how many bytes of the file count
  /// @throws stoa.storage.disk.CorruptData when something is damaged
  /// @throws ReadFailed when the disk cannot be read
  public static void of(Disk disk, String name, long bytes, Visitor visitor) {
    SegmentHeader header = header(disk, name);
    var segment =
        new Segment(header.number(), header.base(), header.bytes(), header.base() + bytes);
    var files = new SegmentFiles(disk, DirectIo.OFF, 1);
    try {
      var walk = new RecordWalk(new SegmentReader(files, segment, bytes), segment);
      var items = new Items(visitor);
      long at = header.bytes();
      while (at < bytes) {
        long next = walk.verify(at);
        if (next < 0) throw walk.damage();
        items.count = 0;
        walk.visit(at, next, items);
        if (!visitor.recordEnd(at, items.count)) return;
        at = next;
      }
    } catch (IOException e) {
      throw unreadable(disk, name, e);
    } finally {
      files.close();
    }
  }

  private static ReadFailed unreadable(Disk disk, String name, IOException e) {
    return new ReadFailed("%s in %s cannot be read: %s".formatted(name, disk.place(), e), e);
  }

  private static final class Items implements ItemVisitor {
    private final Visitor visitor;
    private int count;

    private Items(Visitor visitor) {
      this.visitor = visitor;
    }

    @Override
    public void item(Item item) {
      count++;
      if (item.kind != RecordFormat.ITEM_RECORD) return;
      var object = new StreamId(item.high, item.low);
      try {
        visitor.record(object, item.space, item.offset, item::data);
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e); // RecordWalk unwraps it
      }
    }
  }
}
