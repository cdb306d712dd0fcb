package stoa.storage;

/// The files of one device.
public interface Disk extends AutoCloseable {
  @Override
  void close();
}
