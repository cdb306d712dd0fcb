package stoa.storage.disk;

import java.io.IOException;

/// The disk became full within a write: the file has some of its bytes, and no others.
public final class TornWrite extends IOException {
  private static final long serialVersionUID = 1L;

  public TornWrite(String file, Throwable cause) {
    super("the disk became full within a write of " + file, cause);
  }

  /// Returns the exception for a write without effect, when its file is given up or its bytes are
  /// skipped.
  public DiskFull nothingWritten() {
    return new DiskFull(String.valueOf(getMessage()), this);
  }
}
