package stoa.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.base.Permissions;

/// The files of a directory. It creates a missing directory for its owner alone; users who may read
/// the directory may read the new files in it. An opener holds a file named `lock`, and keeps its
/// notes in it. The file stays for ever.
///
/// Thread-safe. An interrupt of a thread that reads or writes does not disturb the operation; the
/// thread stays interrupted for its caller.
public final class FileDisk implements Disk {
  /*
   * Interrupts: the JDK closes a FileChannel when a thread is interrupted inside an operation on
   * it. Any thread may lead a commit here, so an interrupt must not cost the device its file. A
   * Handle opens its channel again and repeats the operation. That is sound because every operation
   * names its position, and because a sync through any descriptor covers the whole file.
   *
   * Locks: a FileLock refuses other processes only, and java.nio refuses overlapping locks of this
   * process per open file; HELD refuses a second opener in this process by the real path, also
   * before the lock file is touched. A lock is on a file, not on its name: were the name deleted, a
   * second opener would lock another file. So the disk refuses a directory that has files and no
   * lock file, and the holder checks at a sync, at most once in HELD_NANOS, whether the name still
   * stands for its file. If not, it locks the file that now has the name, or fails when another
   * process has done so.
   *
   * Staging: the JDK copies a heap buffer into a direct one that it keeps per thread, as large as
   * the largest write. Here a heap buffer passes through pieces of at most PIECE bytes, so direct
   * memory stays within PIECE for each thread.
   */
  private static final String LOCK = "lock";
  private static final int PIECE = 1 << 20;
  private static final int CHECKED_WRITE = 64 << 10;
  private static final long ROOM_KEPT = 1 << 20;
  private static final long HELD_NANOS = 100_000_000;
  private static final Set<Path> HELD = new HashSet<>(); // guarded by itself
  private static final ByteBuffer ZEROS = BufferPool.allocate(64 << 10).asReadOnlyBuffer();
  private static final String DIRECT_OPTIONS = "com.sun.nio.file.ExtendedOpenOption";
  private static final Set<StandardOpenOption> CREATED =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final Set<StandardOpenOption> LOCKED =
      Set.of(StandardOpenOption.READ, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  private static final int DIRECT_READS_MAX = 16;
  private static final int DIRECT_READ_BYTES = 256 << 10;

  private final Path directory;
  // Looking it up reads the table of all mounts.
  private final FileStore fileStore;
  private final BufferPool directReads = new BufferPool(DIRECT_READS_MAX, DIRECT_READ_BYTES);
  private volatile @Nullable DirectoryHold held;

  /// Creates the disk of a directory.
  ///
  /// @throws IllegalArgumentException when it, or a directory above it, is a file or a broken link
  /// @throws ReadFailed when it cannot be created, read or written
  public FileDisk(Path directory) {
    try {
      Permissions.createDirectories(directory);
      this.directory = directory.toRealPath();
      this.fileStore = Files.getFileStore(this.directory);
    } catch (IOException e) {
      throw unusable(directory, e);
    }
    if (!Files.isReadable(this.directory) || !Files.isWritable(this.directory)) {
      throw new ReadFailed(
          directory
              + " cannot be read and written by this process; give the process the permission, mount"
              + " the file system for writing, or choose another directory");
    }
  }

  private static RuntimeException unusable(Path directory, IOException cause) {
    for (Path at = directory.toAbsolutePath(); at != null; at = at.getParent()) {
      String obstacle = obstacle(at);
      if (obstacle == null) continue;
      String way = at.equals(directory.toAbsolutePath()) ? "" : directory + " cannot be made: ";
      return new IllegalArgumentException(way + at + obstacle, cause);
    }
    if (cause instanceof AccessDeniedException) {
      return new ReadFailed(
          directory
              + " cannot be made or read by this process; give the process the permission, or choose"
              + " another directory",
          cause);
    }
    return new ReadFailed(directory + " cannot be used as a directory: " + cause, cause);
  }

  /// Returns why a path is no directory, with the remedy; null when it is a directory or absent.
  private static @Nullable String obstacle(Path path) {
    if (Files.isDirectory(path)) return null;
    String link = "";
    if (Files.isSymbolicLink(path)) {
      try {
        link = " is a symbolic link to " + Files.readSymbolicLink(path);
      } catch (IOException unread) {
        link = " is a symbolic link";
      }
      if (!Files.exists(path)) {
        return link + ", which is not there; make that directory, or remove the link";
      }
      link += ", which";
    }
    return Files.exists(path) ? link + " is a file; choose a directory" : null;
  }

  /// Removes the directory of a disk without an opener, with its files.
  ///
  /// @throws IOException when it cannot be removed
  public static void remove(Path directory) throws IOException {
    try (var entries = Files.newDirectoryStream(directory)) {
      for (var entry : entries) Files.delete(entry);
    }
    Files.delete(directory);
  }

  @Override
  public List<String> list() throws IOException {
    var names = new ArrayList<String>();
    try (var entries = Files.newDirectoryStream(directory)) {
      for (var entry : entries) {
        var name = String.valueOf(entry.getFileName());
        if (!name.equals(LOCK)) names.add(name);
      }
    }
    names.sort(null);
    return names;
  }

  @Override
  public DiskFile create(String name) throws IOException {
    try {
      return new Handle(
          name,
          FileChannel.open(directory.resolve(name), CREATED, Permissions.ofFilesIn(directory)),
          DirectIo.OFF);
    } catch (IOException e) {
      if (saysFull(e)) throw full(e);
      throw e;
    }
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new Handle(name, channel(name, DirectIo.OFF), DirectIo.OFF);
  }

  @Override
  public DiskFile openDirect(String name) throws IOException {
    try {
      var handle = new Handle(name, channel(name, DirectIo.ON), DirectIo.ON);
      if (DIRECT_ALIGNMENT % fileStore.getBlockSize() == 0) return handle;
      handle.close();
      throw new UnsupportedOperationException(
          directory
              + " has blocks that do not divide "
              + DIRECT_ALIGNMENT
              + " bytes; leave DeviceConfig.directIo OFF");
    } catch (FileSystemException e) {
      if (Files.exists(directory.resolve(name))) {
        throw new UnsupportedOperationException(
            directory
                + " is on a file system that refuses direct I/O; leave DeviceConfig.directIo OFF",
            e);
      }
      throw e;
    }
  }

  @Override
  public void delete(String name) throws IOException {
    Files.delete(directory.resolve(name));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(directory.resolve(from), directory.resolve(to), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void syncDirectory() throws IOException {
    try (var channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  @Override
  public Hold hold() throws IOException {
    synchronized (HELD) {
      if (!HELD.add(directory)) throw alreadyOpen("this process");
    }
    try {
      requireLockFile();
      var hold = new DirectoryHold();
      held = hold;
      return hold;
    } catch (IOException | RuntimeException e) {
      synchronized (HELD) {
        HELD.remove(directory);
      }
      throw e;
    }
  }

  /// Refuses a directory whose lock file was deleted: an opener may still hold that.
  private void requireLockFile() throws IOException {
    boolean used =
        list().stream()
            .anyMatch(name -> DeviceFiles.isSegment(name) || name.equals(DeviceFiles.MANIFEST));
    if (!used || Files.exists(directory.resolve(LOCK))) return;
    throw new AlreadyOpen(
        directory
            + " has lost its file 'lock', so that another process may have it open unseen; when you"
            + " are sure that none has, make an empty file "
            + directory.resolve(LOCK)
            + " and open it again");
  }

  private AlreadyOpen alreadyOpen(String holder) {
    return new AlreadyOpen(
        directory
            + " is open in "
            + holder
            + "; close it there first, or choose another directory");
  }

  @Override
  public long room() {
    try {
      return fileStore.getUsableSpace() - ROOM_KEPT;
    } catch (IOException e) {
      return Long.MAX_VALUE; // unknown; the write gets the error
    }
  }

  @Override
  public long size() {
    try {
      return fileStore.getTotalSpace();
    } catch (IOException e) {
      return Long.MAX_VALUE;
    }
  }

  @Override
  public String moreRoom() {
    return "free space on the file system of " + directory;
  }

  @Override
  public String place() {
    return directory.toString();
  }

  @Override
  public void close() {}

  private FileChannel channel(String name, DirectIo directIo) throws IOException {
    var options = new HashSet<OpenOption>();
    options.add(StandardOpenOption.READ);
    options.add(StandardOpenOption.WRITE);
    if (directIo == DirectIo.ON) options.add(directOption());
    return FileChannel.open(directory.resolve(name), options);
  }

  /// Returns the option for direct I/O. Its class belongs to the JDK but to no standard, so the
  /// compiler warns of it, and another JDK may have none.
  public static OpenOption directOption() {
    try {
      for (var option : Class.forName(DIRECT_OPTIONS).getEnumConstants()) {
        if (option.toString().equals("DIRECT")) return (OpenOption) option;
      }
    } catch (ClassNotFoundException e) {
      // As if it had no such option.
    }
    throw new UnsupportedOperationException(
        "this Java has no direct I/O; leave DeviceConfig.directIo OFF");
  }

  /// Returns whether an error means a full disk or an exhausted quota, by the operating system's
  /// text: the JDK has no class for it.
  private static boolean saysFull(IOException e) {
    var text = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    return text.contains("no space left")
        || text.contains("quota exceeded")
        || text.contains("not enough space");
  }

  private DiskFull full(@Nullable IOException cause) {
    String message = directory + " has no room left; " + moreRoom();
    return cause == null ? new DiskFull(message) : new DiskFull(message, cause);
  }

  private final class DirectoryHold implements Hold {
    private final Path lock = directory.resolve(LOCK);

    // Guarded by this.
    private FileChannel channel;
    private @Nullable Object key;
    private long lookedNanos = System.nanoTime();

    private boolean released; // guarded by HELD

    DirectoryHold() throws IOException {
      channel = locked();
      key = key();
    }

    /// Returns the identity of the lock file in the file system, whatever its name; null where that
    /// is unknown.
    private @Nullable Object key() throws IOException {
      return Files.readAttributes(lock, BasicFileAttributes.class).fileKey();
    }

    private FileChannel locked() throws IOException {
      FileChannel opened = FileChannel.open(lock, LOCKED, Permissions.ofFilesIn(directory));
      try {
        FileLock taken = opened.tryLock();
        if (taken != null) return opened;
      } catch (OverlappingFileLockException e) {
        opened.close();
        throw alreadyOpen("this process");
      } catch (IOException | RuntimeException e) {
        opened.close();
        throw e;
      }
      opened.close();
      throw alreadyOpen("another process");
    }

    /// Checks that no other process can take the disk.
    ///
    /// @throws IOException when another process has taken it
    synchronized void look() throws IOException {
      long now = System.nanoTime();
      if (now - lookedNanos < HELD_NANOS) return;
      if (!Files.exists(lock) || !Objects.equals(key, key())) again();
      lookedNanos = now;
    }

    private void again() throws IOException {
      try {
        FileChannel next = locked();
        channel.close();
        channel = next;
        key = key();
      } catch (AlreadyOpen taken) {
        throw new IOException(
            directory
                + ": its file 'lock' was deleted, and another process has opened it since; this one"
                + " ends, and what it has not acknowledged may be lost",
            taken);
      }
    }

    /// Returns notes in the lock file: earlier releases do not read its contents.
    @Override
    public ByteBuffer notes(int bytes) throws IOException {
      // Its blocks must exist: a store to memory cannot report a full disk.
      var zeros = ZEROS.duplicate();
      for (long size = channel.size(); size < bytes; size = channel.size()) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - size));
        channel.write(zeros, size);
      }
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
    }

    @Override
    public void close() {
      synchronized (HELD) {
        if (released) return;
        released = true;
        held = null;
        try {
          end();
        } catch (IOException e) {
          // The descriptor is gone either way, and the lock with it.
        }
        HELD.remove(directory);
      }
    }

    private synchronized void end() throws IOException {
      channel.close();
    }
  }

  private final class Handle implements DiskFile {
    private final String name;
    private final DirectIo directIo;
    private volatile FileChannel channel; // replaced under this
    private volatile boolean closed;
    private @Nullable ByteBuffer staging; // the writer's

    Handle(String name, FileChannel channel, DirectIo directIo) {
      this.name = name;
      this.directIo = directIo;
      this.channel = channel;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long size() throws IOException {
      return again(FileChannel::size);
    }

    @Override
    public void write(long position, ByteBuffer source) throws IOException {
      if (source.remaining() >= CHECKED_WRITE) ensureRoom(position + source.remaining());
      if (source.isDirect()) {
        writePiece(position, source, true);
        return;
      }
      long at = position;
      while (source.hasRemaining()) {
        int n = Math.min(source.remaining(), PIECE);
        var piece = staging(n).put(source.slice().limit(n)).flip();
        source.position(source.position() + n);
        writePiece(at, piece, at == position);
        at += n;
      }
    }

    private void writePiece(long position, ByteBuffer piece, boolean first) throws IOException {
      int start = piece.position();
      try {
        while (piece.hasRemaining()) {
          // An interrupted attempt may have advanced the piece all the same.
          again(channel ->
              piece.hasRemaining() ? channel.write(piece, position + piece.position() - start) : 0);
        }
      } catch (IOException e) {
        if (!saysFull(e)) throw e;
        if (first && piece.position() == start) throw full(e);
        throw new TornWrite(name, e);
      }
    }

    private ByteBuffer staging(int bytes) {
      var buffer = staging;
      if (buffer == null || buffer.capacity() < bytes) {
        buffer = ByteBuffer.allocateDirect(Math.min(PIECE, Math.max(8 << 10, 2 * bytes)));
        staging = buffer;
      }
      return buffer.clear();
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      ensureRoom(to);
      long at = from;
      try {
        while (at < to) {
          var zeros = ZEROS.duplicate();
          zeros.limit((int) Math.min(zeros.capacity(), to - at));
          long here = at;
          at += again(channel -> channel.write(zeros.rewind(), here));
        }
      } catch (IOException e) {
        // The bytes filled so far are harmless: they are zero, as promised.
        if (saysFull(e)) throw full(e);
        throw e;
      }
    }

    @Override
    public void ensureRoom(long end) throws IOException {
      long growth = end - size();
      if (growth <= 0) return;
      if (fileStore.getUsableSpace() < growth + ROOM_KEPT) throw full(null);
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      if (directIo == DirectIo.ON) return readAligned(position, target);
      if (target.isDirect() || target.remaining() <= PIECE) return readPiece(position, target);
      int limit = target.limit();
      target.limit(target.position() + PIECE);
      try {
        return readPiece(position, target);
      } finally {
        target.limit(limit);
      }
    }

    private int readAligned(long position, ByteBuffer target) throws IOException {
      if (!target.hasRemaining()) return 0;
      try (var loan = directReads.borrow()) {
        var buffer = loan.buffer();
        int front = (int) (position % DIRECT_ALIGNMENT);
        long wanted = front + (long) target.remaining() + DIRECT_ALIGNMENT - 1;
        buffer.limit((int) Math.min(buffer.capacity(), wanted & -DIRECT_ALIGNMENT));
        int n = Math.min(readPiece(position - front, buffer) - front, target.remaining());
        if (n <= 0) return -1;
        target.put(target.position(), buffer, front, n);
        target.position(target.position() + n);
        return n;
      }
    }

    private int readPiece(long position, ByteBuffer target) throws IOException {
      int start = target.position();
      return (int) again(channel -> channel.read(target.position(start), position));
    }

    @Override
    public void sync() throws IOException {
      DirectoryHold holds = held;
      if (holds != null) holds.look();
      again(channel -> {
        channel.force(false);
        return 0L;
      });
    }

    @Override
    public void close() {
      synchronized (this) {
        closed = true;
        try {
          channel.close();
        } catch (IOException e) {
          // Closing promises nothing about the data, so there is nothing to report.
        }
      }
    }

    private long again(Operation operation) throws IOException {
      boolean interrupted = Thread.interrupted();
      try {
        while (true) {
          try {
            return operation.on(channel);
          } catch (ClosedChannelException e) {
            if (closed) throw e;
            interrupted |= Thread.interrupted();
            reopen();
          }
        }
      } finally {
        if (interrupted) Thread.currentThread().interrupt();
      }
    }

    private synchronized void reopen() throws IOException {
      if (closed) throw new ClosedChannelException();
      if (!channel.isOpen()) channel = channel(name, directIo);
    }
  }

  @FunctionalInterface
  private interface Operation {
    long on(FileChannel channel) throws IOException;
  }
}
