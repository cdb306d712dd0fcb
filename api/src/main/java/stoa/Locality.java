package stoa;

import java.nio.charset.StandardCharsets;
import java.util.List;

/// Where a process is: names from the widest to the narrowest, such as `eu-west/rack-3/host-7`. Two
/// processes are the nearer to each other the more of their first names are the same.
///
/// @param names at most [#NAMES_MAX]; none when it is not known, which is near to nothing
public record Locality(List<String> names) implements Comparable<Locality> {
  /// The most names.
  public static final int NAMES_MAX = 8;

  /// How many characters all of them may have, and what is between them.
  public static final int TEXT_MAX = 200;

  /// Not known.
  public static final Locality UNKNOWN = new Locality(List.of());

  /// Checks the names.
  ///
  /// @throws IllegalArgumentException when one of them is no name, or when there are too many
  public Locality {
    names = List.copyOf(names);
    String text = String.join("/", names);
    if (names.size() > NAMES_MAX
        || text.length() > TEXT_MAX
        || !names.stream().allMatch(Locality::isName)) {
      throw new IllegalArgumentException(
          "\""
              + text
              + "\" does not say where a process is; give at most "
              + NAMES_MAX
              + " names with / between them, without blanks and of at most "
              + TEXT_MAX
              + " characters together, such as eu-west/rack-3");
    }
  }

  /// The one of a path.
  ///
  /// @param path its names with / between them
  /// @throws IllegalArgumentException when that is none
  public static Locality of(String path) {
    return new Locality(List.of(path.split("/", -1)));
  }

  private static boolean isName(String name) {
    return !name.isEmpty()
        && StandardCharsets.UTF_8.newEncoder().canEncode(name)
        && name.chars().allMatch(each -> each > ' ' && each != 127 && each != '/');
  }

  /// How many of the first names are the same.
  public int shared(Locality other) {
    int most = Math.min(names.size(), other.names.size());
    int shared = 0;
    while (shared < most && names.get(shared).equals(other.names.get(shared))) shared++;
    return shared;
  }

  @Override
  public int compareTo(Locality other) {
    return toString().compareTo(other.toString());
  }

  @Override
  public String toString() {
    return String.join("/", names);
  }
}
