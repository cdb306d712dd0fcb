package stoa.storage.disk;

/// The files are not a device's, or have a format version that this program does not read. Nothing
/// was changed.
public final class UnknownFormat extends StorageException {
  private static final long serialVersionUID = 1L;

  public UnknownFormat(String message) {
    super(message);
  }
}
