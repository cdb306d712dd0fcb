package stoa.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/// The files of one device: the operations of a file system that the device needs, with their
/// guarantees after a power loss.
///
/// Thread-safe. Names are plain: letters, digits, `-` and `.`, no directories. The effects of
/// [#create(String)], [#delete(String)] and [#rename(String, String)] survive a power loss only
/// once a later [#syncDirectory()] has returned; before that each may have happened or not. The
/// durability of a name is independent of the bytes in the file: [DiskFile#sync()] makes those
/// durable.
public interface Disk extends AutoCloseable {
  /// The divisor of positions, lengths and memory addresses of writes to a file opened with
  /// [#openDirect(String)].
  int DIRECT_ALIGNMENT = 4096;

  /// Returns the names of all files, sorted.
  List<String> list() throws IOException;

  /// Creates an empty file for writing and reading. Throws [IOException] when the name is taken,
  /// [DiskFull] when there is no room for another file.
  DiskFile create(String name) throws IOException;

  /// Opens an existing file for writing and reading.
  DiskFile open(String name) throws IOException;

  /// Opens an existing file for writing and reading past the operating system's cache. Writes are
  /// aligned to [#DIRECT_ALIGNMENT]; reads need not be.
  ///
  /// @throws UnsupportedOperationException when this disk has no direct I/O
  default DiskFile openDirect(String name) throws IOException {
    throw new UnsupportedOperationException(
        place() + " has no direct I/O; leave DeviceConfig.directIo OFF");
  }

  /// Removes a file. The owner of open [DiskFile]s of it closes them before.
  void delete(String name) throws IOException;

  /// Renames a file, replacing a file that has the name already. Atomic: after any failure, the new
  /// name stands for the old file or for the new one, each whole.
  void rename(String from, String to) throws IOException;

  /// Makes all earlier changes of names durable.
  void syncDirectory() throws IOException;

  /// Reserves the disk for one opener. Throws [AlreadyOpen] while another holds it, in this process
  /// or another, through this object or another on the same files. The end of a process releases
  /// it.
  Hold hold() throws IOException;

  /// Returns about how many more bytes the files may have together; 0 or less when there is no
  /// room, [Long#MAX_VALUE] without a limit.
  default long room() {
    return Long.MAX_VALUE;
  }

  /// Returns about how many bytes all files on it may ever have together; [Long#MAX_VALUE] without
  /// a limit.
  default long size() {
    return Long.MAX_VALUE;
  }

  /// Returns how its user can give it more room, for messages: a clause such as "free space".
  default String moreRoom() {
    return "give it more room";
  }

  /// Returns whether the files outlive this process.
  default boolean outlivesProcess() {
    return true;
  }

  /// Returns the place of the files, for messages.
  String place();

  /// Releases its resources. Files that are still open may become unreadable.
  @Override
  void close();

  /// The exclusive use of a disk.
  interface Hold extends AutoCloseable {
    /// Returns memory for notes. The next opener finds the notes of this process, however it ends;
    /// after a power loss, or where nothing outlives the process, it finds zeros or an earlier
    /// state. Changing the notes costs as much as changing memory.
    ///
    /// @param bytes the size, always the same
    default ByteBuffer notes(int bytes) throws IOException {
      return ByteBuffer.allocate(bytes);
    }

    /// Releases the disk for the next opener. Idempotent.
    @Override
    void close();
  }
}
