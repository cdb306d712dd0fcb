package stoa.collections;

/// Values in messages.
final class MessageText {
  private static final int CHARS_MAX = 40;

  private MessageText() {}

  /// Returns a value as a short text.
  static String of(Object value) {
    String shown = value.toString();
    return shown.length() <= CHARS_MAX ? shown : shown.substring(0, CHARS_MAX) + "...";
  }
}
