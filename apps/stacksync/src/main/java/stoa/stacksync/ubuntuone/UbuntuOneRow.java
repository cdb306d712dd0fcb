package stoa.stacksync.ubuntuone;

import java.util.Locale;

/// One change in a reduced trace: a line of nine columns.
///
/// @param seconds the time of the change, since the begin of the trace
/// @param op the kind of the change
/// @param file the number of the file
/// @param type of the node, `File` or `Directory`; may be empty
/// @param mime the type of the contents; may be empty
/// @param size in bytes
/// @param version of the file after the change, counted for each user
/// @param session in which the user made the change
/// @param user a UUID in traces of the papers, a number in the provider's log
public record UbuntuOneRow(
    double seconds,
    Op op,
    long file,
    String type,
    String mime,
    long size,
    int version,
    String session,
    String user) {
  /// The first line of a reduced trace.
  public static final String HEADER =
      "timestamp,op,file_id,file_type,file_mime,file_size,file_version,sid,user_id";

  private static final int FIELDS = 9;

  /// The kind of a change.
  public enum Op {
    /// The file is new. A trace may say so again of a file that it has; nothing changes then.
    NEW("new"),
    /// Its contents changed.
    MODIFIED("mod"),
    /// It was deleted.
    DELETED("del"),
    /// It has another name or folder.
    MOVED("mov");

    private final String word;

    Op(String word) {
      this.word = word;
    }

    @Override
    public String toString() {
      return word;
    }

    private static Op of(String word) {
      for (Op op : values()) {
        if (op.word.equals(word)) return op;
      }
      throw new IllegalArgumentException("op \"" + word + "\" is none of new, mod, del and mov");
    }
  }

  /// Returns the row of a line.
  ///
  /// @throws IllegalArgumentException when it is malformed
  static UbuntuOneRow parse(String line) {
    var fields = line.split(",", -1);
    if (fields.length != FIELDS) {
      throw new IllegalArgumentException(
          fields.length + " fields instead of " + FIELDS + " (" + HEADER + ")");
    }
    int version = (int) number("file_version", fields[6]);
    if (version < 1) throw new IllegalArgumentException("file_version " + version + " is below 1");
    return new UbuntuOneRow(
        seconds(fields[0]),
        Op.of(fields[1]),
        number("file_id", fields[2]),
        fields[3],
        fields[4],
        size(fields[5]),
        version,
        fields[7],
        fields[8]);
  }

  /// Returns this row as a line.
  String text() {
    return String.join(
        ",",
        String.format(Locale.ROOT, "%.3f", seconds),
        op.toString(),
        Long.toString(file),
        type,
        mime,
        Long.toString(size),
        Integer.toString(version),
        session,
        user);
  }

  /// Reads a size; the provider's log leaves it out where there is none.
  static long size(String text) {
    if (text.isEmpty() || text.equals("None")) return 0;
    long size = number("file_size", text);
    if (size < 0) throw new IllegalArgumentException("file_size " + size + " is below 0");
    return size;
  }

  private static long number(String field, String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(field + " \"" + text + "\" is not a whole number", e);
    }
  }

  private static double seconds(String text) {
    try {
      double seconds = Double.parseDouble(text);
      if (seconds >= 0 && seconds <= Integer.MAX_VALUE) return seconds;
      throw new IllegalArgumentException("timestamp " + text + " is not a number of seconds");
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("timestamp \"" + text + "\" is not a number", e);
    }
  }
}
