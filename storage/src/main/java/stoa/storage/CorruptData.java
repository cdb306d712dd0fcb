package stoa.storage;

/// Stored bytes are not what was written. The message names the file and the position in it and
/// says what to do; nothing was changed, and everything else stays readable.
public final class CorruptData extends StorageException {
  private static final long serialVersionUID = 1L;

  CorruptData(String message) {
    super(message);
  }

  CorruptData(String message, Throwable cause) {
    super(message, cause);
  }
}
