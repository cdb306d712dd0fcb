package stoa.base;

import java.nio.charset.StandardCharsets;

/// Text as UTF-8. A Java string may contain half of a surrogate pair, which UTF-8 cannot encode;
/// the JDK would write a question mark in its place, so that two names become one.
public final class Texts {
  private static final char REPLACEMENT = '\uFFFD';

  private Texts() {}

  /// Returns the bytes of a name.
  ///
  /// @throws IllegalArgumentException when it contains half of a surrogate pair
  public static byte[] utf8(String name) {
    return check(name, "the text").getBytes(StandardCharsets.UTF_8);
  }

  /// Returns the name itself.
  ///
  /// @param what the named thing, for the message
  /// @throws IllegalArgumentException when it contains half of a surrogate pair
  public static String check(String name, String what) {
    int half = half(name, 0);
    if (half < 0) return name;
    throw new IllegalArgumentException(
        "%s \"%s\" holds half of a surrogate pair, \\u%04X at %d; use well-formed text"
            .formatted(what, message(name), (int) name.charAt(half), half));
  }

  /// Returns a message for people: with a replacement character for each half of a surrogate pair.
  public static String message(String text) {
    int half = half(text, 0);
    if (half < 0) return text;
    var readable = new StringBuilder(text);
    for (; half >= 0; half = half(text, half + 1)) readable.setCharAt(half, REPLACEMENT);
    return readable.toString();
  }

  /// Returns the index of the first unpaired half of a surrogate pair, from some index on; -1 for
  /// none.
  private static int half(String text, int from) {
    int i = from;
    while (i < text.length()) {
      char c = text.charAt(i);
      int next = i + 1;
      if (Character.isHighSurrogate(c)
          && next < text.length()
          && Character.isLowSurrogate(text.charAt(next))) {
        next++;
      } else if (Character.isSurrogate(c)) {
        return i;
      }
      i = next;
    }
    return -1;
  }
}
