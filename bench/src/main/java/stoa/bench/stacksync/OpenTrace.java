package stoa.bench.stacksync;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import stoa.stacksync.ubuntuone.UbuntuOneGenerator;
import stoa.stacksync.ubuntuone.UbuntuOneLog;
import stoa.stacksync.ubuntuone.UbuntuOneRequests;
import stoa.stacksync.ubuntuone.UbuntuOneRequests.Request;
import stoa.stacksync.ubuntuone.UbuntuOneRow;
import stoa.stacksync.ubuntuone.UbuntuOneTrace;

/// The trace of the open loop. Immutable.
///
/// @param text the trace and its rate, in a few words
/// @param before requests that make the files that exist before it begins
/// @param requests the requests with the times at which they are due
record OpenTrace(String text, List<Request> before, List<Request> requests) {
  private static final long SEED = 17;

  OpenTrace {
    before = List.copyOf(before);
    requests = List.copyOf(requests);
  }

  /// Makes a trace with the skew of Ubuntu One's, at its own times.
  static OpenTrace generated(StackSyncScale sizes) {
    double seconds = sizes.openTime().toMillis() / 1e3;
    var trace = new UbuntuOneGenerator(sizes.users(), seconds, sizes.openPerSecond(), SEED).trace();
    return of(trace, "a generated trace, %d commits/s".formatted(sizes.openPerSecond()), 1, sizes);
  }

  /// Reads the beginning of a trace, in either form.
  ///
  /// @param rate the mean number of commits in a second; 0 for the trace's own times
  /// @throws IllegalArgumentException when the file is no trace, or has no change
  static OpenTrace read(Path file, double rate, StackSyncScale sizes) throws IOException {
    var trace = read(file);
    if (trace.rows().isEmpty()) throw new IllegalArgumentException(file + " has no changes");
    double own = trace.rows().size() / Math.max(1, trace.rows().getLast().seconds());
    double faster = rate == 0 ? 1 : rate / own;
    String text = rate == 0 ? "at its own times" : "at a mean of %.1f commits/s".formatted(rate);
    return of(trace, file.getFileName() + ", " + text, faster, sizes);
  }

  private static UbuntuOneTrace read(Path file) throws IOException {
    boolean isReduced;
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      isReduced = UbuntuOneRow.HEADER.equals(lines.readLine());
    }
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      return isReduced
          ? UbuntuOneTrace.read(lines, file.toString())
          : UbuntuOneLog.read(lines, file.toString());
    }
  }

  private static OpenTrace of(
      UbuntuOneTrace trace, String text, double faster, StackSyncScale sizes) {
    double end = sizes.openTime().toMillis() / 1e3 * faster;
    var some =
        new UbuntuOneTrace(trace.rows().stream().filter(row -> row.seconds() <= end).toList());
    var requests =
        UbuntuOneRequests.of(some).stream()
            .map(each -> new Request(each.seconds() / faster, each.user(), each.change()))
            .toList();
    return new OpenTrace(text, UbuntuOneRequests.before(some), requests);
  }

  /// Returns the users, each once.
  List<UUID> users() {
    return requests.stream().map(Request::user).distinct().toList();
  }
}
