package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;

/// The open files of segments, at most a given number; a use opens a closed file again. The file of
/// the segment that takes appends stays open.
///
/// Thread-safe. A thread may close a file while another one reads it; the reader repeats the read.
public final class SegmentFiles {
  /*
   * The clock algorithm chooses the file to close: the oldest that was not used since the last
   * pass. So a read takes no lock, and only opening does.
   */
  static final int OPEN_FILES_MAX = 256;

  private final Disk disk;
  private final DirectIo directIo;
  private final int openFilesMax;
  private final ReentrantLock opening = new ReentrantLock();
  private final ArrayDeque<Segment> open = new ArrayDeque<>(); // guarded by opening
  private boolean closed; // guarded by opening

  public SegmentFiles(Disk disk, DirectIo directIo, int openFilesMax) {
    this.disk = disk;
    this.directIo = directIo;
    this.openFilesMax = openFilesMax;
  }

  /// Returns the file of a segment; another thread may close it at any time unless it takes
  /// appends.
  DiskFile file(Segment segment) throws IOException {
    var file = segment.file;
    if (file == null) return open(segment);
    if (!segment.used) segment.used = true;
    return file;
  }

  private DiskFile open(Segment segment) throws IOException {
    opening.lock();
    try {
      var file = segment.file;
      if (file != null) return file;
      if (closed || segment.retired()) throw new ClosedChannelException();
      while (open.size() >= openFilesMax && closeOne()) {
        // Until there is room.
      }
      file =
          switch (directIo) {
            case OFF -> disk.open(segment.name());
            case ON -> disk.openDirect(segment.name());
          };
      segment.file = file;
      segment.used = true;
      open.add(segment);
      return file;
    } finally {
      opening.unlock();
    }
  }

  /// Closes a file; returns false when it may close none.
  private boolean closeOne() {
    int looks = 2 * open.size();
    for (int i = 0; i < looks; i++) {
      var segment = open.removeFirst();
      if (segment.used || segment.end() == Segment.OPEN_END) {
        segment.used = false;
        open.add(segment);
      } else {
        close(segment);
        return true;
      }
    }
    return false;
  }

  private static void close(Segment segment) {
    var file = segment.file;
    segment.file = null;
    segment.closings.incrementAndGet();
    if (file != null) file.close();
  }

  /// Reads as [DiskFile#read(long, ByteBuffer)] does.
  int read(Segment segment, long position, ByteBuffer target) throws IOException {
    int start = target.position();
    while (true) {
      int closings = segment.closings.get();
      try {
        return file(segment).read(position, target);
      } catch (IOException e) {
        if (segment.closings.get() == closings || segment.retired()) throw e;
        target.position(start);
      }
    }
  }

  /// Fills the target; returns false when the file ends before.
  boolean readFully(Segment segment, long position, ByteBuffer target) throws IOException {
    long at = position;
    while (target.hasRemaining()) {
      int n = read(segment, at, target);
      if (n < 0) return false;
      at += n;
    }
    return true;
  }

  /// Closes the file of a retired segment for good; later reads of it throw an [IOException].
  void closeRetired(Segment segment) {
    opening.lock();
    try {
      open.remove(segment);
      close(segment);
    } finally {
      opening.unlock();
    }
  }

  int openCount() {
    opening.lock();
    try {
      return open.size();
    } finally {
      opening.unlock();
    }
  }

  /// Closes all of them.
  public void close() {
    opening.lock();
    try {
      closed = true;
      open.forEach(SegmentFiles::close);
      open.clear();
    } finally {
      opening.unlock();
    }
  }
}
