package stoa;

import java.nio.charset.StandardCharsets;
import java.util.List;

/// The place of a process: names from the widest to the narrowest, such as `eu-west/rack-3/host-7`.
/// Two processes are nearer to each other the more first names they share.
///
/// @param names at most [#NAMES_MAX]; none for an unknown place, which is near to no other
public record Locality(List<String> names) implements Comparable<Locality> {
  /// The most names.
  public static final int NAMES_MAX = 8;

  /// The most characters of all names and their separators.
  public static final int TEXT_MAX = 200;

  /// An unknown place.
  public static final Locality UNKNOWN = new Locality(List.of());

  /// Checks the names.
  ///
  /// @throws IllegalArgumentException when one of them is not a name, or there are too many
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

  /// Returns the place of a path.
  ///
  /// @param path its names with / between them
  /// @throws IllegalArgumentException when the path is invalid
  public static Locality of(String path) {
    return new Locality(List.of(path.split("/", -1)));
  }

  private static boolean isName(String name) {
    return !name.isEmpty()
        && StandardCharsets.UTF_8.newEncoder().canEncode(name)
        && name.chars().allMatch(each -> each > ' ' && each != 127 && each != '/');
  }

  /// Returns how many first names both places share.
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
