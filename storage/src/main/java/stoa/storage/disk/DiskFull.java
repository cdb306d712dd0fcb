package stoa.storage.disk;

/// The disk has no room, known before any byte was written: the operation had no effect, and works
/// again once there is room.
public final class DiskFull extends StorageException {
  private static final long serialVersionUID = 1L;

  public DiskFull(String message) {
    super(message);
  }

  public DiskFull(String message, Throwable cause) {
    super(message, cause);
  }
}
