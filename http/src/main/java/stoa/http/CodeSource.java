package stoa.http;

import java.util.SortedMap;

/// The code of shared types that executes calls now, as the servers of a store know it.
/// Thread-safe.
public interface CodeSource {
  /// Returns the active version of each type, by the type's stored name. Asks the servers.
  ///
  /// @throws IllegalArgumentException when they do not answer
  SortedMap<String, String> active();

  /// Returns the class files of a version, by the binary names of the classes. Asks the servers.
  ///
  /// @throws IllegalArgumentException when they do not answer
  SortedMap<String, byte[]> files(String type, String version);
}
