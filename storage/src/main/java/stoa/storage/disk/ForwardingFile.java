package stoa.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/// A file that forwards each operation to another file. A subclass overrides what it changes.
///
/// Usable from several threads as the other file is.
public abstract class ForwardingFile implements DiskFile {
  private final DiskFile file;

  /// Makes a file over another one.
  protected ForwardingFile(DiskFile file) {
    this.file = file;
  }

  @Override
  public String name() {
    return file.name();
  }

  @Override
  public long size() throws IOException {
    return file.size();
  }

  @Override
  public void write(long position, ByteBuffer source) throws IOException {
    file.write(position, source);
  }

  @Override
  public void reserve(long from, long to) throws IOException {
    file.reserve(from, to);
  }

  @Override
  public void ensureRoom(long to) throws IOException {
    file.ensureRoom(to);
  }

  @Override
  public int read(long position, ByteBuffer target) throws IOException {
    return file.read(position, target);
  }

  @Override
  public void sync() throws IOException {
    file.sync();
  }

  @Override
  public void close() {
    file.close();
  }
}
