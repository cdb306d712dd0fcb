package stoa.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/// The files of one device: what the device needs of a file system, and what it may rely on after a
/// power loss.
///
/// Thread-safe. Names are plain: letters, digits, `-` and `.`, no directories. What
/// [#create(String)], [#delete(String)] and [#rename(String, String)] did survives a power loss
/// only once a later [#syncDirectory()] has returned; before that each may have happened or not. A
/// name's durability says nothing about the bytes in the file: those are a matter of
/// [DiskFile#sync()].
public interface Disk extends AutoCloseable {
  /// What positions, lengths and memory addresses are multiples of in a file that was opened with
  /// [#openDirect(String)].
  int DIRECT_ALIGNMENT = 4096;

  /// The names of all files, sorted.
  List<String> list() throws IOException;

  /// Makes an empty file, to be written and read. Throws [IOException] when the name is taken,
  /// [DiskFull] when there is no room for another file.
  DiskFile create(String name) throws IOException;

  /// Opens a file that exists, to be written and read.
  DiskFile open(String name) throws IOException;

  /// Opens a file that exists, to be written and read past the operating system's cache. Writes are
  /// aligned to [#DIRECT_ALIGNMENT]; reads need not be.
  ///
  /// @throws UnsupportedOperationException when this disk cannot
  default DiskFile openDirect(String name) throws IOException {
    throw new UnsupportedOperationException(
        place() + " has no direct I/O; leave DeviceConfig.directIo OFF");
  }

  /// Removes a file. Open [DiskFile]s of it are closed by their owner before.
  void delete(String name) throws IOException;

  /// Gives a file another name, replacing a file that has it already. Atomic: whatever happens, the
  /// new name stands for the old file or for the new one, each whole.
  void rename(String from, String to) throws IOException;

  /// Makes all earlier changes of names durable.
  void syncDirectory() throws IOException;

  /// Takes the disk for one opener. Throws [AlreadyOpen] while another holds it, in this process or
  /// another, through this object or another on the same files. The end of a process releases it.
  Hold hold() throws IOException;

  /// How many bytes more the files may have together, about; 0 or less when there is no room,
  /// [Long#MAX_VALUE] when nobody limits them.
  default long room() {
    return Long.MAX_VALUE;
  }

  /// How many bytes all files on it may ever have together, about; [Long#MAX_VALUE] when nobody
  /// limits them.
  default long size() {
    return Long.MAX_VALUE;
  }

  /// What its user can do so that there is more room, for messages: a clause such as "free space".
  default String moreRoom() {
    return "give it more room";
  }

  /// Where the files are, for messages.
  String place();

  /// Releases what is still held. Files that were not closed may no longer be read.
  @Override
  void close();

  /// The exclusive use of a disk.
  interface Hold extends AutoCloseable {
    /// Memory for notes that the next opener finds as they were left when this process ends,
    /// however it does; after a power loss, or where nothing outlives the process, zeros or an
    /// earlier state. To change it costs what changing memory does.
    ///
    /// @param bytes how much, always the same
    default ByteBuffer notes(int bytes) throws IOException {
      return ByteBuffer.allocate(bytes);
    }

    /// Releases the disk for the next opener. Idempotent.
    @Override
    void close();
  }
}
