package stoa.storage.disk;

/// The exceptions of the storage device itself. There is one class for each way in which a caller
/// could react differently; misuse is an [IllegalArgumentException] or [IllegalStateException]
/// instead.
public abstract sealed class StorageException extends RuntimeException
    permits AlreadyOpen,
        CorruptData,
        DeviceClosed,
        DeviceFailed,
        DiskFull,
        ReadFailed,
        UnknownFormat {
  private static final long serialVersionUID = 1L;

  StorageException(String message) {
    super(message);
  }

  StorageException(String message, Throwable cause) {
    super(message, cause);
  }
}
