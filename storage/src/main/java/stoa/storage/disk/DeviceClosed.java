package stoa.storage.disk;

/// The device was closed before or during the operation.
public final class DeviceClosed extends StorageException {
  private static final long serialVersionUID = 1L;

  public DeviceClosed(String message) {
    super(message);
  }
}
