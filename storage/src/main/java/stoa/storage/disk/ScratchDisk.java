package stoa.storage.disk;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The present state of another disk, with all later changes in the heap of this JVM. A device on
/// it leaves the files of the other disk unchanged.
///
/// [#hold()] makes sure that no other process has the other disk open. The changes live as long as
/// this object. Thread-safe.
public final class ScratchDisk implements Disk {
  /*
   * A file is that of the other disk, if it was there, under a table of later written chunks of
   * CHUNK bytes. The first write into a chunk copies it from the other disk. The file's one writer
   * fills a chunk before it raises `size`; readers read `size` first.
   */
  private static final int CHUNK_BITS = 16;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private final Disk under;
  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();
  private final TreeMap<String, Content> files = new TreeMap<>(); // guarded by itself

  /// Creates a scratch copy of another disk.
  ///
  /// @param under closed with this one
  /// @param bytesMax the room for changes, in bytes
  /// @throws ReadFailed when the other disk cannot be read
  public ScratchDisk(Disk under, long bytesMax) {
    this.under = under;
    this.bytesMax = bytesMax;
    try {
      for (String name : under.list()) files.put(name, new Content(name));
    } catch (IOException e) {
      throw new ReadFailed(under.place() + " cannot be read: " + e, e);
    }
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
      var content = new Content(null);
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
      existing(files.remove(name), name).free();
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    synchronized (files) {
      Content moved = existing(files.remove(from), from);
      Content replaced = files.put(to, moved);
      if (replaced != null) replaced.free();
    }
  }

  private static Content existing(@Nullable Content content, String name) throws IOException {
    if (content == null) throw new FileNotFoundException(name);
    return content;
  }

  @Override
  public void syncDirectory() {}

  @Override
  public Hold hold() throws IOException {
    Hold held = under.hold();
    return new Hold() {
      @Override
      public ByteBuffer notes(int bytes) throws IOException {
        return ByteBuffer.allocate(bytes).put(held.notes(bytes)).clear();
      }

      @Override
      public void close() {
        held.close();
      }
    };
  }

  @Override
  public long room() {
    return bytesMax - bytes.get();
  }

  @Override
  public long size() {
    return Long.MAX_VALUE;
  }

  @Override
  public String moreRoom() {
    return "give this process more memory";
  }

  @Override
  public boolean outlivesProcess() {
    return false;
  }

  @Override
  public String place() {
    return under.place();
  }

  @Override
  public void close() {
    synchronized (files) {
      files.values().forEach(Content::free);
    }
    under.close();
  }

  private DiskFull full() {
    return new DiskFull(
        "the %,d bytes of memory for what is changed are full; %s".formatted(bytesMax, moreRoom()));
  }

  private final class Content {
    private final ConcurrentHashMap<Long, byte[]> written = new ConcurrentHashMap<>();
    private final @Nullable String original;
    // -1 until the file is first opened.
    private volatile long size = -1;
    private long originalSize;
    private volatile @Nullable DiskFile before;

    /// @param original its name on the other disk; null for a new file
    Content(@Nullable String original) {
      this.original = original;
      if (original == null) size = 0;
    }

    synchronized void open() throws IOException {
      if (size >= 0) return;
      DiskFile opened = under.open(Objects.requireNonNull(original));
      before = opened;
      originalSize = opened.size();
      size = originalSize;
    }

    synchronized void free() {
      DiskFile opened = before;
      if (opened != null) opened.close();
      bytes.addAndGet(-((long) written.size() << CHUNK_BITS));
      written.clear();
    }

    byte[] toWrite(long chunk) throws IOException {
      byte[] known = written.get(chunk);
      if (known != null) return known;
      if (bytes.addAndGet(CHUNK) > bytesMax) {
        bytes.addAndGet(-CHUNK);
        throw full();
      }
      byte[] made = new byte[CHUNK];
      var copy = ByteBuffer.wrap(made);
      long from = chunk << CHUNK_BITS;
      if (from < originalSize) copy.limit((int) Math.min(CHUNK, originalSize - from));
      while (from < originalSize && copy.hasRemaining()) readBefore(from + copy.position(), copy);
      written.put(chunk, made);
      return made;
    }

    void readBefore(long position, ByteBuffer target) throws IOException {
      DiskFile opened = before;
      if (opened == null) throw new ClosedChannelException();
      if (opened.read(position, target) < 0) {
        throw new IOException(under.place() + ": " + original + " has become shorter");
      }
    }

    /// Reads up to the end of a chunk.
    ///
    /// @param end how far it may read, within the file
    void readChunk(long position, long end, ByteBuffer target) throws IOException {
      byte[] known = written.get(position >>> CHUNK_BITS);
      int length = (int) (end - position);
      if (known != null) {
        target.put(known, (int) (position & (CHUNK - 1)), length);
        return;
      }
      int limit = target.limit();
      target.limit(target.position() + length);
      long at = position;
      while (at < Math.min(end, originalSize)) {
        int from = target.position();
        if (originalSize < end) target.limit(from + (int) (originalSize - at));
        readBefore(at, target);
        at += target.position() - from;
      }
      target.limit(limit);
      for (; at < end; at++) target.put((byte) 0);
    }
  }

  private final class Handle implements DiskFile {
    private final String name;
    private final Content content;
    private volatile boolean closed;

    Handle(String name, Content content) throws IOException {
      this.name = name;
      this.content = content;
      content.open();
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
      long chunks = (end + CHUNK - 1) >>> CHUNK_BITS;
      for (long next = position >>> CHUNK_BITS; next < chunks; next++) content.toWrite(next);
      long at = position;
      while (at < end) {
        byte[] chunk = content.toWrite(at >>> CHUNK_BITS);
        int from = (int) (at & (CHUNK - 1));
        int n = Math.min(CHUNK - from, source.remaining());
        source.get(chunk, from, n);
        at += n;
      }
      if (end > content.size) content.size = end;
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      ensureOpen();
    }

    @Override
    public void ensureRoom(long to) {
      if (to - content.size > room()) throw full();
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      ensureOpen();
      long end = Math.min(content.size, position + target.remaining());
      if (position >= end) return target.hasRemaining() ? -1 : 0;
      long at = position;
      while (at < end) {
        long next = Math.min(end, ((at >>> CHUNK_BITS) + 1) << CHUNK_BITS);
        content.readChunk(at, next, target);
        at = next;
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
