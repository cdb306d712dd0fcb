package stoa.collections;

/// Values in messages.
final class Shown {
  private static final int CHARS_MAX = 40;

  private Shown() {}

  /// Returns a value as a short text.
  static String of(Object value) {
    String shown = value.toString();
    return shown.length() <= CHARS_MAX ? shown : shown.substring(0, CHARS_MAX) + "...";
  }
}
