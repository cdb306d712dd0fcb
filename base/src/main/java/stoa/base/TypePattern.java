package stoa.base;

/// Types of objects as operators name them: the stored name of a type, or the beginning of names
/// with `*` behind it. Stateless.
public final class TypePattern {
  /// The pattern of all types.
  public static final String ALL = "*";

  private TypePattern() {}

  /// Returns whether a pattern names a type.
  public static boolean matches(String pattern, String type) {
    return pattern.endsWith(ALL)
        ? type.startsWith(pattern.substring(0, pattern.length() - 1))
        : type.equals(pattern);
  }
}
