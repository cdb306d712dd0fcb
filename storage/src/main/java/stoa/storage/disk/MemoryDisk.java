package stoa.storage.disk;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A disk in the heap of this JVM, with a bound. It lives as long as it is reachable: a program may
/// close a device and open it again on this disk, and nothing outlives the process.
///
/// Thread-safe.
public final class MemoryDisk implements Disk {
  /*
   * A file is a table of chunks of CHUNK bytes. Growing adds a chunk and, rarely, copies the table,
   * never the bytes. The budget counts whole chunks, as the heap does.
   *
   * The file's one writer writes `chunks` before `size`; readers read size first, so every byte
   * below it is there.
   */
  private static final int CHUNK_BITS = 16;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();
  private final TreeMap<String, Content> files = new TreeMap<>(); // guarded by itself
  private final AtomicBoolean held = new AtomicBoolean();

  /// Creates an empty disk.
  ///
  /// @param bytesMax the room for all files together, in bytes; rounded down to a multiple of 64
  ///   KiB
  public MemoryDisk(long bytesMax) {
    if (bytesMax < CHUNK) {
      throw new IllegalArgumentException("bytesMax is " + bytesMax + "; the least is " + CHUNK);
    }
    this.bytesMax = bytesMax;
  }

  /// Returns the used room, in bytes.
  public long bytes() {
    return bytes.get();
  }

  @Override
  public long room() {
    return bytesMax - bytes.get();
  }

  @Override
  public long size() {
    return bytesMax;
  }

  @Override
  public String moreRoom() {
    return "raise memoryBytesMax, which is %,d, or keep the data in a directory"
        .formatted(bytesMax);
  }

  @Override
  public List<String> list() {
    synchronized (files) {
      return new ArrayList<>(files.keySet());
    }
  }

  @Override
  public DiskFile create(String name) throws IOException {
    synchronized (files) {
      if (files.containsKey(name)) throw new FileAlreadyExistsException(name);
      var content = new Content();
      files.put(name, content);
      return new Handle(name, content);
    }
  }

  @Override
  public DiskFile open(String name) throws IOException {
    synchronized (files) {
      return new Handle(name, existing(files.get(name), name));
    }
  }

  @Override
  public void delete(String name) throws IOException {
    synchronized (files) {
      free(existing(files.remove(name), name));
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    synchronized (files) {
      var moved = existing(files.remove(from), from);
      var replaced = files.put(to, moved);
      if (replaced != null) free(replaced);
    }
  }

  @Override
  public void syncDirectory() {}

  @Override
  public Hold hold() {
    if (!held.compareAndSet(false, true)) {
      throw new AlreadyOpen("the memory disk is in use by another device; close that one first");
    }
    var mine = new AtomicBoolean(true);
    return () -> {
      if (mine.compareAndSet(true, false)) held.set(false);
    };
  }

  @Override
  public boolean outlivesProcess() {
    return false;
  }

  @Override
  public String place() {
    return "memory";
  }

  @Override
  public void close() {}

  private static Content existing(@Nullable Content content, String name) throws IOException {
    if (content == null) throw new FileNotFoundException(name);
    return content;
  }

  private void free(Content content) {
    bytes.addAndGet(-((long) content.chunkCount << CHUNK_BITS));
  }

  private void claim(int chunks) {
    long claimed = (long) chunks << CHUNK_BITS;
    if (bytes.addAndGet(claimed) > bytesMax) {
      bytes.addAndGet(-claimed);
      throw full();
    }
  }

  private DiskFull full() {
    return new DiskFull("the %,d bytes of memory are full; %s".formatted(bytesMax, moreRoom()));
  }

  private static final class Content {
    private byte[][] chunks = new byte[4][];
    private int chunkCount;
    private volatile long size;
  }

  private final class Handle implements DiskFile {
    private final String name;
    private final Content content;
    private volatile boolean closed;

    Handle(String name, Content content) {
      this.name = name;
      this.content = content;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long size() {
      return content.size;
    }

    @Override
    public void write(long position, ByteBuffer source) throws IOException {
      ensureOpen();
      if (position > content.size) {
        throw new IOException(name + ": write at " + position + " leaves a gap at " + content.size);
      }
      long end = position + source.remaining();
      int needed = (int) ((end + CHUNK - 1) >>> CHUNK_BITS);
      if (needed > content.chunkCount) grow(needed);
      byte[][] chunks = content.chunks;
      long at = position;
      while (at < end) {
        int from = (int) (at & (CHUNK - 1));
        int n = (int) Math.min(CHUNK - from, end - at);
        source.get(chunks[(int) (at >>> CHUNK_BITS)], from, n);
        at += n;
      }
      if (end > content.size) content.size = end;
    }

    @Override
    public void ensureRoom(long to) {
      long needed = ((to + CHUNK - 1) >>> CHUNK_BITS) - content.chunkCount;
      if (needed > 0 && bytes.get() + (needed << CHUNK_BITS) > bytesMax) throw full();
    }

    private void grow(int needed) {
      int had = content.chunkCount;
      claim(needed - had);
      byte[][] chunks = content.chunks;
      if (needed > chunks.length)
        chunks = Arrays.copyOf(chunks, Math.max(needed, 2 * chunks.length));
      for (int i = had; i < needed; i++) chunks[i] = new byte[CHUNK];
      content.chunks = chunks;
      content.chunkCount = needed;
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      ensureOpen();
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      ensureOpen();
      long end = Math.min(content.size, position + target.remaining());
      if (position >= end) return target.hasRemaining() ? -1 : 0;
      byte[][] chunks = content.chunks;
      long at = position;
      while (at < end) {
        int from = (int) (at & (CHUNK - 1));
        int n = (int) Math.min(CHUNK - from, end - at);
        target.put(chunks[(int) (at >>> CHUNK_BITS)], from, n);
        at += n;
      }
      return (int) (end - position);
    }

    @Override
    public void sync() throws IOException {
      ensureOpen();
    }

    @Override
    public void close() {
      closed = true;
    }

    private void ensureOpen() throws IOException {
      if (closed) throw new ClosedChannelException();
    }
  }
}
