package stoa.stacksync.replay;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/// Makes the compact trace from the full one: `TraceExtract FULL.csv.gz COMPACT.csv.gz [ROWS]`.
///
/// It keeps whole requests from the beginning until there are enough rows; and from the rest, of
/// each item that is changed on an old version, everything up to the last such change.
final class TraceExtract {
  private static final int ROWS = 20_000;

  private TraceExtract() {}

  public static void main(String[] args) throws IOException {
    var full = Path.of(args[0]);
    var compact = Path.of(args[1]);
    int rowsWanted = args.length > 2 ? Integer.parseInt(args[2]) : ROWS;
    var lines = new ArrayList<String>();
    try (var in =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(full)), StandardCharsets.UTF_8))) {
      in.lines().forEach(lines::add);
    }
    Trace trace;
    try (var in = Files.newInputStream(full)) {
      trace = Trace.readCompressed(in, full.toString());
    }
    Map<Long, Integer> lastConflict = new HashMap<>();
    for (var row : trace.rows()) {
      if (row.versionAskedFor() < row.version()) lastConflict.put(row.item(), row.version());
    }
    try (var out =
        new PrintStream(
            new GZIPOutputStream(Files.newOutputStream(compact)) {
              {
                def.setLevel(Deflater.BEST_COMPRESSION);
              }
            },
            false,
            StandardCharsets.UTF_8)) {
      out.print(lines.getFirst() + "\n");
      int request = Integer.MAX_VALUE;
      for (int i = 0; i < trace.rows().size(); i++) {
        var row = trace.rows().get(i);
        if (i == rowsWanted) request = trace.rows().get(i - 1).request();
        if (row.request() <= request || row.version() <= lastConflict.getOrDefault(row.item(), 0)) {
          out.print(lines.get(i + 1) + "\n");
        }
      }
    }
  }
}
