package stoa.stacksync.ubuntuone;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A reduced trace. Immutable.
///
/// @param rows in the order of their times
public record UbuntuOneTrace(List<UbuntuOneRow> rows) {
  public UbuntuOneTrace {
    rows = List.copyOf(rows);
  }

  /// A file of a user.
  public record UserFile(String user, long file) {}

  /// Reads a reduced trace: nine columns under a header line, see [UbuntuOneRow].
  ///
  /// @param name what errors call it
  /// @throws IllegalArgumentException when a row is malformed or earlier than the one before, or
  ///   has not the version that is due, with its line
  public static UbuntuOneTrace read(Reader in, String name) throws IOException {
    var lines = new BufferedReader(in);
    if (!UbuntuOneRow.HEADER.equals(lines.readLine())) {
      throw new IllegalArgumentException(
          name + " does not begin with the line \"" + UbuntuOneRow.HEADER + "\"");
    }
    var rows = new ArrayList<UbuntuOneRow>();
    var versions = new Versions();
    int line = 1;
    for (var text = lines.readLine(); text != null; text = lines.readLine()) {
      line++;
      try {
        var row = UbuntuOneRow.parse(text);
        if (!rows.isEmpty() && row.seconds() < rows.getLast().seconds()) {
          throw new IllegalArgumentException("timestamp " + row.seconds() + " goes back");
        }
        int due = versions.next(new UserFile(row.user(), row.file()), row.op());
        if (row.version() != due) {
          throw new IllegalArgumentException(
              "file %d has version %d where version %d is due"
                  .formatted(row.file(), row.version(), due));
        }
        rows.add(row);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(name + ", line " + line + ": " + e.getMessage(), e);
      }
    }
    return new UbuntuOneTrace(rows);
  }

  /// Counts versions as the reduction does: a file begins with version 1, or with 2 when the trace
  /// does not see it made; a file made again keeps its version.
  static final class Versions {
    private final Map<UserFile, Integer> newest = new HashMap<>();

    int next(UserFile file, UbuntuOneRow.Op op) {
      boolean isNew = op == UbuntuOneRow.Op.NEW;
      Integer before = newest.get(file);
      int now = before == null ? (isNew ? 1 : 2) : before + (isNew ? 0 : 1);
      newest.put(file, now);
      return now;
    }
  }

  /// Returns the files that exist before the trace begins, with one version each.
  public List<UserFile> earlierFiles() {
    var earlier = new ArrayList<UserFile>();
    Set<UserFile> seen = new HashSet<>();
    for (var row : rows) {
      var file = new UserFile(row.user(), row.file());
      if (seen.add(file) && row.version() > 1) earlier.add(file);
    }
    return earlier;
  }

  /// Returns the users, in the order of their first change.
  public List<String> users() {
    return rows.stream().map(UbuntuOneRow::user).distinct().toList();
  }

  /// Writes the trace, with its header line.
  public void write(Appendable to) throws IOException {
    to.append(UbuntuOneRow.HEADER).append('\n');
    for (var row : rows) to.append(row.text()).append('\n');
  }
}
