package stoa.sim.check;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.TreeSet;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;

/// A versioned object of some MiB, in cells of 64 bytes. The contents of a cell follow from the
/// object, the version and the place, so that the model keeps only versions.
///
/// One owner.
public final class SoakModel {
  public static final int CELL = 64;
  private static final int READ_CELLS = 4096;

  private final long id;
  // Negative for truncated cells.
  private final long[] versions;
  private final TreeSet<Long> applied = new TreeSet<>();

  public SoakModel(long id, int cells) {
    this.id = id;
    this.versions = new long[cells];
  }

  public SoakModel copy() {
    var copy = new SoakModel(id, versions.length);
    System.arraycopy(versions, 0, copy.versions, 0, versions.length);
    copy.applied.addAll(applied);
    return copy;
  }

  public int cells() {
    return versions.length;
  }

  public boolean exists() {
    return !applied.isEmpty();
  }

  public long highest() {
    return applied.isEmpty() ? 0 : applied.last();
  }

  /// Adds a version. Returns whether it is new.
  public boolean add(long version) {
    return applied.add(version);
  }

  public void write(long version, int from, int to) {
    for (int i = from; i < to; i++) {
      if (Math.abs(versions[i]) <= version) versions[i] = version;
    }
  }

  public void truncate(long version, int from) {
    for (int i = from; i < versions.length; i++) {
      if (Math.abs(versions[i]) <= version) versions[i] = -version;
    }
  }

  /// Returns the bytes that a version writes into some cells.
  public ByteBuffer content(long version, int from, int to) {
    var bytes = ByteBuffer.allocate((to - from) * CELL);
    for (int i = from; i < to; i++) {
      long seed = (id * 1_000_003 + version) * 1_000_003 + i;
      for (int j = 0; j < CELL / Long.BYTES; j++) bytes.putLong(seed * 0x9e3779b97f4a7c15L + j);
    }
    return bytes.flip();
  }

  public long dataBytes() {
    long cells = 0;
    for (long version : versions) {
      if (version > 0) cells++;
    }
    return cells * CELL;
  }

  private long size() {
    int end = versions.length;
    while (end > 0 && versions[end - 1] <= 0) end--;
    return (long) end * CELL;
  }

  private VersionState state() {
    return VersionState.of(
        applied.stream().map(version -> new VersionRange(version, version)).toList());
  }

  /// Compares an object or a snapshot with this.
  public void require(ObjectReader object, String name) {
    if (!state().equals(object.versionState())) {
      throw new AssertionError(name + " has the versions " + object.versionState());
    }
    if (object.size() != size()) {
      throw new AssertionError(name + " has " + object.size() + " bytes and must have " + size());
    }
    for (int at = 0; at < versions.length; at += READ_CELLS) {
      require(object, name, at, Math.min(versions.length, at + READ_CELLS));
    }
  }

  /// Compares some cells with this.
  public void require(ObjectReader object, String name, int from, int to) {
    byte[] read = object.read((long) from * CELL, (to - from) * CELL);
    for (int i = from; i < to; i++) {
      long version = versions[i];
      byte[] expected = version > 0 ? content(version, i, i + 1).array() : new byte[CELL];
      int at = (i - from) * CELL;
      if (!Arrays.equals(expected, 0, CELL, read, at, at + CELL)) {
        throw new AssertionError(
            "%s has other bytes at %d than version %d wrote"
                .formatted(name, (long) i * CELL, version));
      }
    }
  }
}
