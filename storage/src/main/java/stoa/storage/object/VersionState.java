package stoa.storage.object;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// The versions that an object has: the highest and the gaps below it (VOSD paper, section II-B).
/// Its size is that of the gaps, not of the versions. Immutable.
public final class VersionState {
  /// The state of an object without versions.
  public static final VersionState EMPTY = new VersionState(new long[0]);

  private static final String NONE = "none";
  private static final Pattern RANGE = Pattern.compile("(\\d{1,19})(?:-(\\d{1,19}))?");

  // First, last, first, last …, ascending, never adjacent.
  private final long[] bounds;

  private VersionState(long[] bounds) {
    this.bounds = bounds;
  }

  /// Returns the state with the versions of some ranges, in any order, overlapping or not.
  public static VersionState of(List<VersionRange> ranges) {
    var builder = new Builder();
    var sorted = new ArrayList<>(ranges);
    sorted.sort((a, b) -> Long.compare(a.first(), b.first()));
    for (var range : sorted) builder.add(range.first(), range.last());
    return builder.build();
  }

  /// Returns the highest version, 0 when there is none.
  public long highest() {
    return bounds.length == 0 ? 0 : bounds[bounds.length - 1];
  }

  /// Returns the missing versions from 1 to the highest, ascending.
  public List<VersionRange> missing() {
    var result = new ArrayList<VersionRange>();
    long next = 1;
    for (int i = 0; i < bounds.length; i += 2) {
      if (bounds[i] > next) result.add(new VersionRange(next, bounds[i] - 1));
      next = bounds[i + 1] + 1;
    }
    return List.copyOf(result);
  }

  /// Returns the versions, ascending.
  public List<VersionRange> ranges() {
    var result = new ArrayList<VersionRange>();
    for (int i = 0; i < bounds.length; i += 2) {
      result.add(new VersionRange(bounds[i], bounds[i + 1]));
    }
    return List.copyOf(result);
  }

  /// Returns whether it has a version.
  public boolean contains(long version) {
    int low = 0;
    int high = bounds.length / 2;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (bounds[2 * middle + 1] < version) low = middle + 1;
      else high = middle;
    }
    return low < bounds.length / 2 && bounds[2 * low] <= version;
  }

  /// Returns the versions in either state.
  public VersionState plus(VersionState other) {
    var all = new ArrayList<>(ranges());
    all.addAll(other.ranges());
    return of(all);
  }

  /// Returns the versions in this state and not in the other.
  public VersionState minus(VersionState other) {
    var builder = new Builder();
    int j = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      long from = bounds[i];
      long last = bounds[i + 1];
      while (j < other.bounds.length && other.bounds[j + 1] < from) j += 2;
      for (int k = j; k < other.bounds.length && other.bounds[k] <= last; k += 2) {
        if (other.bounds[k] > from) builder.add(from, other.bounds[k] - 1);
        from = other.bounds[k + 1] + 1;
      }
      if (from <= last) builder.add(from, last);
    }
    return builder.build();
  }

  /// Returns the state of a text such as `1-47, 49`, which [#toString] returns.
  ///
  /// @throws IllegalArgumentException when the text is something else
  public static VersionState parse(String text) {
    var ranges = new ArrayList<VersionRange>();
    if (text.equals(NONE)) return EMPTY;
    for (var part : text.split(",", -1)) {
      var range = RANGE.matcher(part.strip());
      if (!range.matches()) {
        throw new IllegalArgumentException(
            "\"%s\" in \"%s\" is no range of versions, such as 49 or 1-47".formatted(part, text));
      }
      long first = Long.parseLong(range.group(1));
      long last = range.group(2) == null ? first : Long.parseLong(range.group(2));
      ranges.add(new VersionRange(first, last));
    }
    return of(ranges);
  }

  /// Returns this state in a few bytes: for each gap and each range its length.
  public byte[] toBytes() {
    var out = new Encoder(16);
    encode(out);
    return out.toBytes();
  }

  /// Returns the state that [#toBytes] encoded.
  ///
  /// @throws IllegalArgumentException when the bytes are something else
  public static VersionState fromBytes(byte[] bytes) {
    try {
      return decode(new Decoder(bytes));
    } catch (Decoder.MalformedException e) {
      throw new IllegalArgumentException("these bytes are no version state: " + e.getMessage(), e);
    }
  }

  void encode(Encoder out) {
    out.varint(bounds.length / 2);
    long before = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      out.varint(bounds[i] - before).varint(bounds[i + 1] - bounds[i]);
      before = bounds[i + 1];
    }
  }

  static VersionState decode(Decoder in) {
    int count = in.count();
    var builder = new Builder();
    long before = 0;
    for (int i = 0; i < count; i++) {
      long first = before + in.varint();
      long last = first + in.varint();
      if (first <= before || last < first || last == Long.MAX_VALUE) {
        throw new IllegalArgumentException(
            "the versions %d to %d cannot follow %d".formatted(first, last, before));
      }
      builder.add(first, last);
      before = last;
    }
    return builder.build();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VersionState state && Arrays.equals(bounds, state.bounds);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bounds);
  }

  /// Returns the ranges, as in `1-47, 49`.
  @Override
  public String toString() {
    var text = new StringBuilder();
    for (var range : ranges()) {
      if (!text.isEmpty()) text.append(", ");
      text.append(range);
    }
    return text.isEmpty() ? NONE : text.toString();
  }

  /// Takes ranges in ascending order of their first version and joins those that touch.
  static final class Builder {
    private long[] bounds = new long[8];
    private int size;

    Builder add(long first, long last) {
      if (size > 0 && first <= bounds[size - 1] + 1) {
        bounds[size - 1] = Math.max(bounds[size - 1], last);
        return this;
      }
      if (size == bounds.length) bounds = Arrays.copyOf(bounds, 2 * size);
      bounds[size++] = first;
      bounds[size++] = last;
      return this;
    }

    VersionState build() {
      return size == 0 ? EMPTY : new VersionState(Arrays.copyOf(bounds, size));
    }
  }
}
