package stoa.storage.disk;

/// A read from the disk failed. Nothing is known about the data; the same read may work later.
public final class ReadFailed extends StorageException {
  private static final long serialVersionUID = 1L;

  public ReadFailed(String message) {
    super(message);
  }

  public ReadFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
