package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import stoa.storage.disk.DiskFile;

/// The direct memory through which records go into a file.
interface Staging {
  /// Room for the first of `length` bytes that go to a log position.
  ///
  /// @param base the log position of the file's first byte
  ByteBuffer begin(DiskFile file, long base, long position, long length) throws IOException;

  /// Takes a full buffer and answers one with room.
  ByteBuffer more(ByteBuffer full) throws IOException;

  /// Takes what was put into the last buffer.
  void end(ByteBuffer last) throws IOException;
}
