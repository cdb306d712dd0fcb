package stoa.migration.core;

/// Orders the copies of an object by age.
///
/// @param generation raised whenever the object is reconstituted from a copy, since newer copies
///   are lost
/// @param number raised by every update
public record Version(long generation, long number) implements Comparable<Version> {
  /// The version of an object that was never updated.
  public static final Version NONE = new Version(0, 0);

  @Override
  public int compareTo(Version other) {
    int byGeneration = Long.compare(generation, other.generation);
    return byGeneration != 0 ? byGeneration : Long.compare(number, other.number);
  }

  /// Returns the version that an update of this one makes.
  public Version updated() {
    return new Version(generation, number + 1);
  }

  /// Returns the version of an object that is reconstituted from a copy of this one.
  Version reconstituted() {
    return new Version(generation + 1, number);
  }

  /// Returns this version, in a generation no earlier than another one.
  Version from(long oldest) {
    return new Version(Math.max(generation, oldest), number);
  }

  @Override
  public String toString() {
    return generation + "." + number;
  }
}
