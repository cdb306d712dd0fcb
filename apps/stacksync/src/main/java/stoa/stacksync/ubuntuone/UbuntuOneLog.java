package stoa.stacksync.ubuntuone;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// The provider's log: 34 columns under a header line, of which a few say what a user changed.
///
/// It keeps the finished requests of storage servers that make, write, move or delete a node:
///
/// | operation of the log | op of the reduced trace |
/// |---|---|
/// | `MakeResponse` | new |
/// | `PutContentResponse` | mod |
/// | `MoveResponse` | mov |
/// | `Unlink` | del |
public final class UbuntuOneLog {
  private static final int FIELDS = 34;
  private static final int T = 0;
  private static final int MIME = 13;
  private static final int MESSAGE = 14;
  private static final int NODE = 15;
  private static final int OPERATION = 19;
  private static final int SESSION = 25;
  private static final int SIZE = 26;
  private static final int TIME = 28;
  private static final int NODE_TYPE = 29;
  private static final int USER = 31;

  private static final DateTimeFormatter TIMES =
      new DateTimeFormatterBuilder()
          .appendPattern("uuuu-MM-dd HH:mm:ss")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
          .toFormatter(Locale.ROOT);

  private UbuntuOneLog() {}

  /// Reads the log, and reduces it.
  ///
  /// @param name what errors call it
  /// @throws IllegalArgumentException when a row is malformed, with its line
  public static UbuntuOneTrace read(Reader in, String name) throws IOException {
    var lines = new BufferedReader(in);
    if (lines.readLine() == null) throw new IllegalArgumentException(name + " has no header line");
    var reduction = new Reduction();
    int line = 1;
    for (var text = lines.readLine(); text != null; text = lines.readLine()) {
      line++;
      try {
        reduction.add(fields(text));
      } catch (IllegalArgumentException | DateTimeParseException e) {
        throw new IllegalArgumentException(name + ", line " + line + ": " + e.getMessage(), e);
      }
    }
    return new UbuntuOneTrace(reduction.rows);
  }

  /// The rows so far, and what numbers them.
  private static final class Reduction {
    private final List<UbuntuOneRow> rows = new ArrayList<>();
    private final HashMap<List<String>, Long> numbers = new HashMap<>();
    private final UbuntuOneTrace.Versions versions = new UbuntuOneTrace.Versions();
    private Optional<LocalDateTime> begin = Optional.empty();

    void add(List<String> fields) {
      if (fields.size() != FIELDS) {
        throw new IllegalArgumentException(fields.size() + " fields instead of " + FIELDS);
      }
      var time = LocalDateTime.parse(fields.get(TIME), TIMES);
      if (begin.isEmpty()) begin = Optional.of(time);
      var op = op(fields.get(OPERATION));
      if (op.isEmpty()
          || !fields.get(T).startsWith("storage")
          || !fields.get(MESSAGE).equals("Request done")
          || fields.get(NODE).isEmpty()) {
        return;
      }
      var user = fields.get(USER);
      long file =
          numbers.computeIfAbsent(List.of(user, fields.get(NODE)), _ -> numbers.size() + 1L);
      double seconds = Duration.between(begin.orElse(time), time).toNanos() / 1e9;
      double before = rows.isEmpty() ? 0 : rows.getLast().seconds();
      rows.add(
          new UbuntuOneRow(
              Math.max(before, seconds), // servers write into one log, and their clocks differ
              op.get(),
              file,
              fields.get(NODE_TYPE),
              fields.get(MIME),
              UbuntuOneRow.size(fields.get(SIZE)),
              versions.next(new UbuntuOneTrace.UserFile(user, file), op.get()),
              fields.get(SESSION),
              user));
    }
  }

  private static Optional<UbuntuOneRow.Op> op(String operation) {
    return switch (operation) {
      case "MakeResponse" -> Optional.of(UbuntuOneRow.Op.NEW);
      case "PutContentResponse" -> Optional.of(UbuntuOneRow.Op.MODIFIED);
      case "MoveResponse" -> Optional.of(UbuntuOneRow.Op.MOVED);
      case "Unlink" -> Optional.of(UbuntuOneRow.Op.DELETED);
      default -> Optional.empty();
    };
  }

  /// Splits at commas, but not between double quotes, and takes off the marks of Python's byte
  /// strings.
  private static List<String> fields(String line) {
    var fields = new ArrayList<String>(FIELDS);
    var field = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.add(plain(field.toString()));
        field.setLength(0);
      } else {
        field.append(c);
      }
    }
    if (quoted) throw new IllegalArgumentException("a double quote is not closed");
    fields.add(plain(field.toString()));
    return fields;
  }

  private static String plain(String field) {
    boolean bytes = field.startsWith("b'") && field.endsWith("'") && field.length() > 2;
    return bytes ? field.substring(2, field.length() - 1) : field;
  }
}
