package stoa.bench.remote;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import stoa.Stoa;
import stoa.View;
import stoa.bench.load.Board;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.report.Context;
import stoa.bench.report.Report;
import stoa.bench.report.Result;
import stoa.programs.BackgroundProcess;

/// One writer of an object and 1 to 1,000 readers, which read it through local, cached or remote
/// views (vCorfu, figure 11).
///
/// One thread uses it.
final class ViewsRun {
  static final int ROWS = 1_000;
  static final int ROW_BYTES = 100;
  private static final int CLIENTS_MAX = 32;
  private static final List<Integer> READERS = List.of(1, 10, 100, 1_000);

  /// The kind of the readers' views.
  enum Kind {
    LOCAL,
    CACHED,
    REMOTE;

    private View view() {
      return switch (this) {
        case LOCAL -> new View.Local();
        case CACHED -> new View.Cached();
        case REMOTE -> new View.Remote();
      };
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Context<RemoteScale> context;
  private final Samples samples = new Samples();

  ViewsRun(Context<RemoteScale> context) {
    this.context = context;
  }

  /// Returns the measurements so far.
  Samples samples() {
    return samples;
  }

  /// Starts a server, and measures.
  void measure(Path folder) throws Exception {
    try (BackgroundProcess server = StoaServer.serve(folder, Persistence.NONE)) {
      measure("stoa://" + StoaServer.address(server));
    }
  }

  /// Measures at a server.
  void measure(String url) throws Exception {
    var clients = new ArrayList<Stoa>();
    try (Stoa writer = Stoa.open(url)) {
      Board board = writer.get(Board.class, "board");
      board.fill(ROWS, ROW_BYTES);
      for (int i = 0; i < CLIENTS_MAX; i++) clients.add(Stoa.open(url));
      for (int round = 1; round <= context.sizes().rounds(); round++) {
        for (int readers : READERS) {
          for (Kind kind : Kind.values()) {
            context.progress().accept("views, round %d: %s".formatted(round, name(kind, readers)));
            sample(board, clients, kind, readers);
          }
        }
      }
    } finally {
      for (Stoa client : clients) client.close();
    }
  }

  private void sample(Board board, List<Stoa> clients, Kind kind, int readers) throws Exception {
    var views = new ArrayList<Board>();
    for (int i = 0; i < Math.min(readers, clients.size()); i++) {
      Stoa client = clients.get(i);
      views.add(
          client.view(Board.class, client.ref(client.get(Board.class, "board")), kind.view()));
    }
    for (Board view : views) view.read(0);
    var reading = new AtomicBoolean(true);
    var writes = new LongAdder();
    var failure = new ArrayList<RuntimeException>(1);
    byte[] row = new byte[ROW_BYTES];
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              try {
                for (int i = 0; reading.get(); i++) {
                  board.write(i % ROWS, row);
                  writes.increment();
                }
              } catch (RuntimeException failed) {
                failure.add(failed);
              }
            });
    long began = System.nanoTime();
    Load.Seen seen;
    try {
      var sizes = context.sizes();
      seen =
          new Load(readers, Load.Threads.VIRTUAL, sizes.warmUp(), sizes.time())
              .run((caller, turn) -> {
                var _ = views.get(caller % views.size()).read((caller + turn) % ROWS);
              });
    } finally {
      reading.set(false);
      writer.join();
    }
    if (!failure.isEmpty()) throw failure.getFirst();
    String name = name(kind, readers);
    samples.add(name, seen);
    samples.add(name + WRITES, writes.sum() * 1e9 / (System.nanoTime() - began));
  }

  private static final String WRITES = ", writes";

  /// Returns the name of a measure.
  static String name(Kind kind, int readers) {
    return "%s view, %d reader%s".formatted(kind, readers, readers == 1 ? "" : "s");
  }

  /// Returns every measure.
  List<Result> results() {
    var results = new ArrayList<Result>();
    for (Kind kind : Kind.values()) {
      for (int readers : READERS) {
        String name = name(kind, readers);
        results.add(Result.of(samples, name, "reads/s"));
        results.add(Result.of(samples, name + ", p50", "µs"));
        results.add(Result.of(samples, name + ", p99", "µs"));
        results.add(Result.of(samples, name + WRITES, "calls/s"));
      }
    }
    return results;
  }

  /// Returns the measures to read, a line for each number of readers and kind.
  String table() {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("one writer", "reads/s", "p50, µs", "p99, µs", "writes/s"));
    for (int readers : READERS) {
      for (Kind kind : Kind.values()) {
        String name = name(kind, readers);
        rows.add(
            List.of(
                name,
                Report.number(samples.median(name)),
                Report.number(samples.median(name + ", p50")),
                Report.number(samples.median(name + ", p99")),
                Report.number(samples.median(name + WRITES))));
      }
    }
    return "views of one object that changes\n" + Report.lines(rows, Set.of(1, 2, 3, 4)) + "\n";
  }
}
