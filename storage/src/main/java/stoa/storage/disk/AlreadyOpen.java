package stoa.storage.disk;

/// Another opener, in this process or in another one, holds the disk. Nothing was changed; close
/// the other opener first.
public final class AlreadyOpen extends StorageException {
  private static final long serialVersionUID = 1L;

  AlreadyOpen(String message) {
    super(message);
  }
}
