package stoa.sim.world;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.storage.object.ObjectReader.Content;
import stoa.storage.object.ObjectReader.CoveredBytes;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;

/// The correct contents of a versioned object, in the simplest form: for every offset the byte and
/// the version that wrote it, for every attribute the same, and the set of versions.
///
/// One owner.
public final class VersionedModel {
  /*
   * Cell i stands for the offset `base + i`; the last cell for all later offsets, which only a
   * truncation reaches. A cell of version 0 was never written.
   */
  private final long base;
  private final byte[] bytes;
  private final long[] versions;
  private final boolean[] holes;
  private final TreeMap<String, Attribute> attributes = new TreeMap<>();
  private final TreeSet<Long> applied = new TreeSet<>();

  /// @param value null when the version removed it
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  private record Attribute(long version, byte @Nullable [] value) {}

  /// Creates an object that does not exist.
  ///
  /// @param base the first written offset
  /// @param room the number of written offsets from there on
  public VersionedModel(long base, int room) {
    this.base = base;
    this.bytes = new byte[room + 1];
    this.versions = new long[room + 1];
    this.holes = new boolean[room + 1];
  }

  public VersionedModel copy() {
    var copy = new VersionedModel(base, room());
    System.arraycopy(bytes, 0, copy.bytes, 0, bytes.length);
    System.arraycopy(versions, 0, copy.versions, 0, versions.length);
    System.arraycopy(holes, 0, copy.holes, 0, holes.length);
    copy.attributes.putAll(attributes);
    copy.applied.addAll(applied);
    return copy;
  }

  long base() {
    return base;
  }

  int room() {
    return bytes.length - 1;
  }

  /// Applies a transaction. Returns whether it changed anything.
  public boolean apply(long version, VersionedChange change) {
    if (!applied.add(version)) return false;
    for (var part : change.parts()) {
      switch (part) {
        case VersionedChange.Write write -> {
          int at = (int) (write.offset() - base);
          for (int i = 0; i < write.data().length; i++)
            put(at + i, version, write.data()[i], false);
        }
        case VersionedChange.Truncate truncate -> {
          if (truncate.size() == Long.MAX_VALUE) continue;
          int at = (int) (truncate.size() - base);
          for (int i = at; i < bytes.length; i++) put(i, version, (byte) 0, true);
        }
      }
    }
    change.attributes().forEach((name, value) -> put(name, new Attribute(version, value.bytes())));
    return true;
  }

  private void put(int cell, long version, byte value, boolean hole) {
    if (versions[cell] > version) return;
    bytes[cell] = value;
    versions[cell] = version;
    holes[cell] = hole;
  }

  private void put(String name, Attribute attribute) {
    var before = attributes.get(name);
    if (before == null || before.version <= attribute.version) attributes.put(name, attribute);
  }

  /// Takes the bytes and attributes of some versions over from another model.
  public void merge(VersionedModel other, VersionState which) {
    for (int i = 0; i < bytes.length; i++) {
      if (which.contains(other.versions[i]))
        put(i, other.versions[i], other.bytes[i], other.holes[i]);
    }
    other.attributes.forEach((name, attribute) -> {
      if (which.contains(attribute.version)) put(name, attribute);
    });
    for (var range : which.ranges()) {
      for (long version = range.first(); version <= range.last(); version++) applied.add(version);
    }
  }

  public boolean exists() {
    return !applied.isEmpty();
  }

  public boolean contains(long version) {
    return applied.contains(version);
  }

  public long highest() {
    return applied.isEmpty() ? 0 : applied.last();
  }

  public VersionState state() {
    var ranges = new ArrayList<VersionRange>();
    for (long version : applied) ranges.add(new VersionRange(version, version));
    return VersionState.of(ranges);
  }

  /// Returns how many versions below the highest are missing.
  long missing() {
    return highest() - applied.size();
  }

  long size() {
    for (int i = room() - 1; i >= 0; i--) {
      if (isData(i)) return base + i + 1;
    }
    return 0;
  }

  /// Returns how many bytes have data.
  public long dataBytes() {
    long count = 0;
    for (int i = 0; i < room(); i++) {
      if (isData(i)) count++;
    }
    return count;
  }

  /// Returns how many bytes show data of some versions.
  public long dataBytes(VersionState which) {
    long count = 0;
    for (int i = 0; i < room(); i++) {
      if (isData(i) && which.contains(versions[i])) count++;
    }
    return count;
  }

  /// Returns the most bytes that the attributes take.
  public long attributeBytes() {
    long count = 0;
    for (var attribute : attributes.entrySet()) {
      byte[] value = attribute.getValue().value;
      count += 60 + 4L * attribute.getKey().length() + (value == null ? 0 : value.length);
    }
    return count;
  }

  private boolean isData(int cell) {
    return versions[cell] > 0 && !holes[cell];
  }

  /// Returns the bytes from an offset on, as a reader must see them.
  byte[] read(long offset, int length) {
    var result = new byte[length];
    for (int i = 0; i < length; i++) {
      long cell = offset + i - base;
      if (cell >= 0 && cell < room() && isData((int) cell)) result[i] = bytes[(int) cell];
    }
    return result;
  }

  SortedMap<String, byte[]> attributes() {
    var result = new TreeMap<String, byte[]>();
    attributes.forEach((name, attribute) -> {
      if (attribute.value != null) result.put(name, attribute.value);
    });
    return result;
  }

  /// Returns the extents, each as long as possible.
  List<CoveredBytes> history() {
    var result = new ArrayList<CoveredBytes>();
    for (int i = 0; i <= room(); i++) {
      long length = i < room() ? 1 : Long.MAX_VALUE - base - room();
      if (versions[i] == 0 || length == 0) continue;
      join(
          result,
          new CoveredBytes(base + i, length, versions[i], holes[i] ? Content.HOLE : Content.DATA));
    }
    return result;
  }

  /// Adds an extent to a list, joined with the last if it continues that one.
  static void join(List<CoveredBytes> extents, CoveredBytes next) {
    if (!extents.isEmpty()) {
      var last = extents.getLast();
      if (last.offset() + last.length() == next.offset()
          && last.version() == next.version()
          && last.content() == next.content()) {
        extents.removeLast();
        next =
            new CoveredBytes(
                last.offset(), last.length() + next.length(), next.version(), next.content());
      }
    }
    extents.add(next);
  }

  /// Returns whether both have the same bytes, attributes and versions.
  public boolean isLevelWith(VersionedModel other) {
    return applied.equals(other.applied)
        && Arrays.equals(versions, other.versions)
        && Arrays.equals(holes, other.holes)
        && Arrays.equals(bytes, other.bytes)
        && attributes.keySet().equals(other.attributes.keySet())
        && attributes.entrySet().stream()
            .allMatch(entry -> {
              var there = Objects.requireNonNull(other.attributes.get(entry.getKey()));
              return there.version == entry.getValue().version
                  && Arrays.equals(there.value, entry.getValue().value);
            });
  }
}
