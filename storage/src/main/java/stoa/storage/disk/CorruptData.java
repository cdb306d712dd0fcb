package stoa.storage.disk;

/// Stored bytes are not what was written. The message names the file and the position in it and
/// says what to do; nothing was changed, and everything else stays readable.
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

  /// The index has such bytes, which can be made anew from the log.
  public static CorruptData ofIndex(String message) {
    return new CorruptData(message, true);
  }

  /// Whether the index has these bytes, which can be made anew from the log.
  public boolean isOfIndex() {
    return ofIndex;
  }
}
