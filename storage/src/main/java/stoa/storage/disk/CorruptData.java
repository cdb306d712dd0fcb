package stoa.storage.disk;

/// Stored bytes are damaged. The message names the file and the position in it and states the
/// remedy; nothing was changed, and everything else stays readable.
public final class CorruptData extends StorageException {
  private static final long serialVersionUID = 1L;

  private final boolean ofIndex;

  public CorruptData(String message) {
    this(message, false);
  }

  private CorruptData(String message, boolean ofIndex) {
    super(message);
    this.ofIndex = ofIndex;
  }

  public CorruptData(String message, Throwable cause) {
    super(message, cause);
    this.ofIndex = false;
  }

  /// Creates the exception for damage in the index, which can be rebuilt from the log.
  public static CorruptData ofIndex(String message) {
    return new CorruptData(message, true);
  }

  /// Returns whether the damage is in the index, which can be rebuilt from the log.
  public boolean isOfIndex() {
    return ofIndex;
  }
}
