package stoa.stacksync.replay;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import stoa.stacksync.Status;

/// A trace of file changes: comma-separated rows under a header line, see [TraceRow]. Immutable.
///
/// @param rows in the order in which they happened; the versions of an item are 1, 2, 3 and so on
public record Trace(List<TraceRow> rows) {
  private static final String HEADER =
      "ts,req,user,device,workspace,item,op,version,base,size,checksum,path,chunks";
  private static final int FIELDS = 13;
  private static final String BUILT_IN = "stacksync-trace-tldr-compact.csv.gz";

  public Trace {
    rows = List.copyOf(rows);
  }

  /// The compact trace that comes with this module.
  public static Trace builtIn() {
    try (var resource =
        Objects.requireNonNull(Trace.class.getResourceAsStream(BUILT_IN), BUILT_IN)) {
      return readCompressed(resource, BUILT_IN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Reads a trace that was compressed with gzip.
  ///
  /// @param name what errors call it
  /// @throws IllegalArgumentException when a row is malformed, with its line
  public static Trace readCompressed(InputStream in, String name) throws IOException {
    return read(new InputStreamReader(new GZIPInputStream(in), StandardCharsets.UTF_8), name);
  }

  /// Reads a trace.
  ///
  /// @param name what errors call it
  /// @throws IllegalArgumentException when a row is malformed, with its line
  public static Trace read(Reader in, String name) throws IOException {
    var lines = new BufferedReader(in);
    var header = lines.readLine();
    if (!HEADER.equals(header)) {
      throw new IllegalArgumentException(
          name + " does not begin with the line \"" + HEADER + "\"; it is no trace of this format");
    }
    var rows = new ArrayList<TraceRow>();
    var newest = new HashMap<Long, Integer>();
    int line = 1;
    for (var text = lines.readLine(); text != null; text = lines.readLine()) {
      line++;
      try {
        var row = row(fields(text));
        int version = newest.merge(row.item(), 1, Integer::sum);
        if (row.version() != version) {
          throw new IllegalArgumentException(
              "item %d has version %d where version %d is due"
                  .formatted(row.item(), row.version(), version));
        }
        rows.add(row);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(name + ", line " + line + ": " + e.getMessage(), e);
      }
    }
    return new Trace(rows);
  }

  /// The rows of the first requests, at most the given number of them.
  public Trace firstRequests(int requestsMax) {
    int end = 0;
    int requests = 0;
    while (end < rows.size()) {
      if (end == 0 || rows.get(end).request() != rows.get(end - 1).request()) requests++;
      if (requests > requestsMax) break;
      end++;
    }
    return new Trace(rows.subList(0, end));
  }

  private static TraceRow row(List<String> fields) {
    if (fields.size() != FIELDS) {
      throw new IllegalArgumentException(
          fields.size() + " fields instead of " + FIELDS + " (" + HEADER + ")");
    }
    var in = fields.iterator();
    return new TraceRow(
        number("ts", in.next()),
        count("req", in.next()),
        count("user", in.next()),
        count("device", in.next()),
        text("workspace", in.next()),
        number("item", in.next()),
        status(in.next()),
        count("version", in.next()),
        count("base", in.next()),
        number("size", in.next()),
        checksum(in.next()),
        text("path", in.next()),
        chunks(in.next()));
  }

  private static long number(String field, String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(field + " \"" + text + "\" is not a number", e);
    }
  }

  private static int count(String field, String text) {
    long number = number(field, text);
    if (number < TraceRow.BASE_UNKNOWN || number > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(field + " " + text + " is out of range");
    }
    return (int) number;
  }

  private static String text(String field, String text) {
    if (text.isEmpty()) throw new IllegalArgumentException(field + " is empty");
    return text;
  }

  private static Status status(String text) {
    for (var status : Status.values()) {
      if (status.name().equals(text)) return status;
    }
    throw new IllegalArgumentException(
        "op \"" + text + "\" is none of " + List.of(Status.values()));
  }

  private static long checksum(String text) {
    try {
      return text.isEmpty() ? 0 : Long.parseUnsignedLong(text, 16);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "checksum \"" + text + "\" is not a hexadecimal number of 64 bits", e);
    }
  }

  private static List<String> chunks(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(";", -1));
  }

  /// Splits at commas; a field in double quotes may contain commas, and double quotes twice.
  private static List<String> fields(String line) {
    var fields = new ArrayList<String>(FIELDS);
    var field = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        if (quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
          field.append('"');
          i++;
        } else {
          quoted = !quoted;
        }
      } else if (c == ',' && !quoted) {
        fields.add(field.toString());
        field.setLength(0);
      } else {
        field.append(c);
      }
    }
    if (quoted) throw new IllegalArgumentException("a double quote is not closed");
    fields.add(field.toString());
    return fields;
  }
}
