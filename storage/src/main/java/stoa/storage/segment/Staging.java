package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import stoa.storage.disk.DiskFile;

/// The direct memory through which records go into a file.
interface Staging {
  /// Returns room for the first of `length` bytes for a log position.
  ///
  /// @param base the log position of the file's first byte
  ByteBuffer begin(DiskFile file, long base, long position, long length) throws IOException;

  /// Takes a full buffer and returns one with room.
  ByteBuffer more(ByteBuffer full) throws IOException;

  /// Takes the bytes in the last buffer.
  void end(ByteBuffer last) throws IOException;
}
