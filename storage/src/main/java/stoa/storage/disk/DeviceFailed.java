package stoa.storage.disk;

/// A write or a sync failed, so the outcome of the latest commits is unknown. The device takes no
/// further commits, reads go on; opening it again finds out what the disk has.
public final class DeviceFailed extends StorageException {
  private static final long serialVersionUID = 1L;

  public DeviceFailed(String message) {
    super(message);
  }

  public DeviceFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
