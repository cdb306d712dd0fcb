package stoa.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.stacksync.Design;
import stoa.stacksync.replay.Trace;

/// The trace that a demo replays, and the number of its clients.
///
/// @param traceFile the trace; null for the one that comes with Stoa
/// @param design of the service
/// @param clients how many threads commit at once, in each process that commits
record Replayed(@Nullable Path traceFile, Design design, int clients) {
  /// Reads the trace.
  Trace trace() throws IOException {
    return Traces.open(traceFile);
  }

  /// The same with another design.
  Replayed in(Design other) {
    return new Replayed(traceFile, other, clients);
  }

  /// Returns the arguments that give a process of this program the same values.
  List<String> arguments() {
    var arguments =
        new ArrayList<>(List.of("--design", word(design), "--clients", String.valueOf(clients)));
    if (traceFile != null) arguments.addAll(List.of("--trace", traceFile.toString()));
    return arguments;
  }

  /// How the command line calls a design.
  static String word(Design design) {
    return design.toString();
  }

  /// A design in a few words.
  static String describe(Design design) {
    return switch (design) {
      case EVERYTHING_SHARED ->
          design + ": every item, version, chunk and device is a shared object, too";
      case ITEMS_EMBEDDED -> design + ": items inside their workspaces, devices inside their users";
      case FACADE_ALONE -> design + ": users and workspaces inside facades, as in shards";
    };
  }
}
