package stoa.storage;

import java.io.IOException;

/// The disk became full within a write: the file has some of its bytes, and no others.
final class TornWrite extends IOException {
  private static final long serialVersionUID = 1L;

  TornWrite(String file, Throwable cause) {
    super("the disk became full within a write of " + file, cause);
  }

  /// That nothing was written, once its file is given up or its bytes are passed over.
  DiskFull nothingWritten() {
    return new DiskFull(String.valueOf(getMessage()), this);
  }
}
