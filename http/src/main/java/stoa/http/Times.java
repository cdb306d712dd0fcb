package stoa.http;

/// Finds versions of objects by time. Thread-safe.
@FunctionalInterface
public interface Times {
  /// Returns the newest version of an object that was logged up to a time.
  ///
  /// @param key as operators write it
  /// @param at a time as operators write it
  /// @throws IllegalArgumentException when it is none, or the version is unknown
  long version(String type, String key, String at);
}
