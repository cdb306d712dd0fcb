package stoa.base;

/// Names that become parts of paths, addresses and identifiers.
public final class Name {
  /// The most characters of a name.
  public static final int CHARS_MAX = 64;

  private Name() {}

  /// Returns a name that can be a part of a path and of an identifier.
  ///
  /// @param what the named thing, for the message
  /// @throws IllegalArgumentException when it has characters other than letters and digits of
  ///   English, `.`, `_` and `-`, begins with neither a letter nor a digit, or is too long
  public static String checked(String what, String name) {
    if (isName(name)) return name;
    throw new IllegalArgumentException(
        what
            + " cannot be called \""
            + name
            + "\"; give 1 to "
            + CHARS_MAX
            + " of the characters a-z, A-Z, 0-9, '.', '_' and '-', a letter or digit first");
  }

  private static boolean isName(String name) {
    if (name.isEmpty() || name.length() > CHARS_MAX || !isPlain(name.charAt(0))) return false;
    return name.chars().allMatch(c -> isPlain(c) || c == '.' || c == '_' || c == '-');
  }

  private static boolean isPlain(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }
}
