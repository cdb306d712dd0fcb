package stoa.migration.core;

/// Orders the copies of an object by age.
///
/// @param generation raised whenever the object is reconstituted from a copy, since newer copies
///   are lost
/// @param number raised by every update
public record CopyVersion(long generation, long number) implements Comparable<CopyVersion> {
  /// The version of an object that was never updated.
  public static final CopyVersion NONE = new CopyVersion(0, 0);

  @Override
  public int compareTo(CopyVersion other) {
    int byGeneration = Long.compare(generation, other.generation);
    return byGeneration != 0 ? byGeneration : Long.compare(number, other.number);
  }

  /// Returns the version that an update of this one makes.
  public CopyVersion updated() {
    return new CopyVersion(generation, number + 1);
  }

  /// Returns the version of an object that is reconstituted from a copy of this one.
  CopyVersion reconstituted() {
    return new CopyVersion(generation + 1, number);
  }

  /// Returns this version, in a generation no earlier than another one.
  CopyVersion from(long oldest) {
    return new CopyVersion(Math.max(generation, oldest), number);
  }

  @Override
  public String toString() {
    return generation + "." + number;
  }
}
