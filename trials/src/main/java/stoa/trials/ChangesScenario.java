package stoa.trials;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.Keep;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.cli.Main;
import stoa.cli.PlacementWait;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.CodeService;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.code.CodeChange;
import stoa.sim.code.CodeChanges;
import stoa.sim.code.CompiledProgram;
import stoa.sim.scenario.Scenario;

/// Changes of shared classes, each made to objects with few and with many calls: by deploying them
/// at a server while a client calls, with and without a class path, and by starting three servers
/// again in turn with the changed class path; and taken back. The state and the past are what they
/// were, or the change is refused with the rule that settles it, and nothing has changed. No call
/// of the client is lost.
///
/// `./stoa test --campaign --scenario code-changes --seeds 0-0`. All changes are in one store at
/// once. The seed decides nothing.
public final class ChangesScenario implements Scenario {
  private static final int SERVERS = 3;
  private static final String BUSY = "busy";

  private final int every;
  private final List<Integer> calls;

  /// For [java.util.ServiceLoader].
  public ChangesScenario() {
    this(1, List.of(12, 2_000)); // so many that the store makes a checkpoint
  }

  /// @param every which changes are made: those whose numbers are divisible by this
  /// @param calls how many calls the objects have had when the change comes
  ChangesScenario(int every, List<Integer> calls) {
    this.every = every;
    this.calls = calls;
  }

  @Override
  public String name() {
    return "code-changes";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(30);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Path directory = Files.createTempDirectory("code-changes");
    try {
      List<CodeChange> changes = CodeChanges.numbered();
      Path before = directory.resolve("before");
      Path after = directory.resolve("after");
      var sources = changes.stream().map(CodeChange::before).toList();
      List<CompiledProgram> first = CompiledProgram.all(before, sources);
      sources = changes.stream().map(CodeChange::after).toList();
      List<CompiledProgram> second = CompiledProgram.all(after, sources);
      try (var loaderBefore = CompiledProgram.loader(before);
          var loaderAfter = CompiledProgram.loader(after)) {
        var programs = new Programs(loaderBefore, loaderAfter);
        for (ClassLoader classes : List.of(loaderBefore, ChangesScenario.class.getClassLoader())) {
          atAServer(classes, programs, cells(changes), first, second, trace);
        }
        atServersInTurn(programs, cells(changes), directory, trace);
      }
    } finally {
      Directories.delete(directory);
    }
  }

  private record Programs(URLClassLoader before, URLClassLoader after) {}

  /// An object of a changed class, and what it was at some of its versions.
  private record Cell(int number, CodeChange change, int calls, SortedMap<Long, Object> shown) {
    private boolean isKept() {
      return change.outcome() instanceof CodeChange.Outcome.Kept;
    }

    private boolean isKeptBack() {
      return change.back() instanceof CodeChange.Outcome.Kept;
    }

    @Override
    public String toString() {
      return change.name() + ", " + calls + " calls";
    }
  }

  private List<Cell> cells(List<CodeChange> changes) {
    var cells = new ArrayList<Cell>();
    for (int number = 0; number < changes.size(); number += every) {
      for (int count : calls) {
        cells.add(new Cell(number, changes.get(number), count, new TreeMap<>()));
      }
    }
    return cells;
  }

  private List<Cell> rows(List<Cell> cells) {
    return cells.stream().filter(cell -> cell.calls() == calls.getFirst()).toList();
  }

  /// Does something with all at once.
  private static void each(List<Cell> cells, Consumer<Cell> action) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var ends = new ArrayList<Future<?>>();
      for (Cell cell : cells) ends.add(threads.submit(() -> action.accept(cell)));
      for (int i = 0; i < ends.size(); i++) {
        try {
          ends.get(i).get();
        } catch (ExecutionException failed) {
          throw new AssertionError(cells.get(i) + ": " + failed.getCause(), failed.getCause());
        }
      }
    }
  }

  // ---- what a client does

  /// A client with the classes of one of the two programs.
  private static final class Client implements AutoCloseable {
    private final ClassLoader loader;
    private final Stoa stoa;

    Client(ClassLoader loader, String url) {
      this.loader = loader;
      this.stoa = as(loader, () -> Stoa.open(url));
    }

    private Object thing(Cell cell, Object key) {
      try {
        return stoa.get(loader.loadClass("v" + cell.number() + ".Thing"), key);
      } catch (ClassNotFoundException impossible) {
        throw new IllegalStateException(impossible);
      }
    }

    private static @Nullable Object run(Object thing, int i) {
      return CompiledProgram.callFirst(thing, List.of("run", "walk"), i);
    }

    private static Object show(Object thing) {
      return Objects.requireNonNull(CompiledProgram.callFirst(thing, List.of("show")));
    }

    /// Calls an object, and notes what it is at some of its versions.
    private void call(Cell cell) {
      Object thing = thing(cell, cell.calls());
      for (int i = 1; i <= cell.calls(); i++) {
        var _ = run(thing, i);
        if (i % (cell.calls() / 4) != 0) continue;
        cell.shown().put(stoa.history(thing).version(), show(thing));
      }
    }

    /// The object is, and was, what it is known to have been.
    private void compare(Cell cell) {
      Object thing = thing(cell, cell.calls());
      SortedMap<Long, Object> shown = cell.shown();
      same(shown.get(shown.lastKey()), show(thing), cell, "now");
      same(0L, called(thing, shown.lastKey()), cell, "further calls");
      shown.forEach((version, then) ->
          same(then, show(stoa.history(thing).at(version)), cell, "at version " + version));
    }

    /// How many calls are logged behind a version. Beside them the store notes slow calls.
    private long called(Object thing, long version) {
      History<Object> history = stoa.history(thing);
      return history.entries(version + 1, history.version()).stream()
          .filter(entry -> entry.event() instanceof History.Event.Called)
          .count();
    }

    @Override
    public void close() {
      stoa.close();
    }
  }

  private static void same(@Nullable Object wanted, Object found, Cell cell, String when) {
    if (found.equals(wanted)) return;
    throw new AssertionError(cell + ": " + when + " " + found + ", and not " + wanted);
  }

  private static void holds(boolean condition, String what) {
    if (!condition) throw new AssertionError(what);
  }

  private interface Making<T> {
    T make() throws Exception;
  }

  private static <T> T as(ClassLoader loader, Making<T> making) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return making.make();
    } catch (RuntimeException passedOn) {
      throw passedOn;
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /// Calls an object of each class all the time, with the first classes.
  private static final class Busy implements AutoCloseable {
    private final Client client;
    private final List<Cell> rows;
    private final CallerProgress progress = new CallerProgress();
    private final long[] answered;
    private final Thread thread;
    private volatile @Nullable Throwable failure;

    Busy(Client client, List<Cell> rows) {
      this.client = client;
      this.rows = rows;
      this.answered = new long[rows.size()];
      this.thread = Thread.ofVirtual().start(this::work);
    }

    private void work() {
      try {
        while (!progress.areOver()) {
          for (int i = 0; i < rows.size(); i++) {
            try {
              var _ = Client.run(client.thing(rows.get(i), BUSY), 1);
              answered[i]++;
            } catch (NotShareable gone) {
              // The active code has no such method, or one of other parameters: nothing is logged.
              if (!String.valueOf(gone.getMessage()).contains("run(int)")) throw gone;
            }
          }
          progress.taken();
        }
      } catch (RuntimeException | Error failed) {
        failure = failed;
        progress.end();
      }
    }

    private void await() throws InterruptedException {
      try {
        progress.await(2);
      } catch (IllegalStateException ended) {
        throw new AssertionError("a client's call failed: " + failure, failure);
      }
    }

    /// Every answered call is logged once.
    private void judge() throws InterruptedException {
      progress.end();
      thread.join();
      if (failure != null) throw new AssertionError("a client's call failed", failure);
      for (int i = 0; i < rows.size(); i++) {
        long called = client.called(client.thing(rows.get(i), BUSY), 0);
        same(answered[i], called, rows.get(i), "calls");
      }
    }

    @Override
    public void close() {
      progress.end();
    }
  }

  // ---- a server

  /// @param classes the server's, with the first program or without any
  private void atAServer(
      ClassLoader classes,
      Programs programs,
      List<Cell> cells,
      List<CompiledProgram> first,
      List<CompiledProgram> second,
      Trace trace)
      throws Exception {
    var config = StoaConfig.of("memory:").withKeep(Keep.all());
    ObjectService service =
        as(classes, () -> ObjectService.of(new EmbeddedEngine().open(config), _ -> true));
    try (var server = Server.start(ServerConfig.of("127.0.0.1", 0), service)) {
      String url = "stoa://127.0.0.1:" + server.port();
      CodeService code = service.code();
      for (Cell row : rows(cells))
        deploy(code, first.get(row.number()), new CodeChange.Outcome.Kept(), row);
      try (var before = new Client(programs.before(), url);
          var after = new Client(programs.after(), url)) {
        each(cells, before::call);
        try (var busy = new Busy(before, rows(cells))) {
          for (Cell row : rows(cells)) {
            busy.await();
            deploy(code, second.get(row.number()), row.change().outcome(), row);
            trace.reached(row.isKept() ? "a deployment" : "a refused deployment");
          }
          each(cells, cell -> goOn(cell.isKept(), cell, before, after));
          for (Cell row : rows(cells)) {
            if (!row.isKept()) continue;
            busy.await();
            deploy(code, first.get(row.number()), row.change().back(), row);
            trace.reached(row.isKeptBack() ? "a way back" : "a refused way back");
          }
          each(cells, cell -> goOn(cell.isKept() && !cell.isKeptBack(), cell, before, after));
          busy.judge();
        }
      }
    }
  }

  private static void deploy(
      CodeService code, CompiledProgram program, CodeChange.Outcome outcome, Cell row) {
    List<CodeService.Finding> found = code.deploy(program.files(), Set.of(), _ -> {});
    boolean fits = found.stream().allMatch(CodeService.Finding::fits);
    switch (outcome) {
      case CodeChange.Outcome.Kept() -> holds(fits, row + " is refused: " + found);
      case CodeChange.Outcome.Refused(String words) ->
          holds(!fits && found.toString().contains(words), row + ": " + found);
    }
  }

  /// The object is what it was, and goes on.
  private static void goOn(boolean isChanged, Cell cell, Client before, Client after) {
    Client client = isChanged ? after : before;
    client.compare(cell);
    client.call(cell);
    client.compare(cell);
  }

  // ---- three servers

  private void atServersInTurn(Programs programs, List<Cell> cells, Path directory, Trace trace)
      throws Exception {
    Path shared = Path.of("/dev/shm"); // in memory, where there is such a place
    Path data =
        Files.isWritable(shared)
            ? Files.createTempDirectory(shared, "code-changes")
            : directory.resolve("servers");
    try (var servers = new LocalServers(data, SERVERS, programs.before())) {
      String at = servers.address(0);
      PlacementWait.await(at, SERVERS);
      try (var before = new Client(programs.before(), servers.url());
          var after = new Client(programs.after(), servers.url())) {
        each(cells, before::call);
        try (var busy = new Busy(before, rows(cells))) {
          restart(servers, programs.after(), busy);
          trace.reached("servers with another class path");
          each(cells, cell -> goOn(cell.isKept(), cell, before, after));
          String listed = stoa(0, "deploy", "--list", "--server", at);
          for (Cell row : rows(cells)) {
            same(row.isKept() ? 2 : 1, versions(listed, row), row, "versions");
          }
          // Servers with the first classes again go on with the code in the log.
          restart(servers, programs.before(), busy);
          each(cells, cell -> goOn(cell.isKept(), cell, before, after));
          same(listed, stoa(0, "deploy", "--list", "--server", at), cells.getFirst(), "versions");
          for (Cell row : rows(cells)) {
            if (row.isKept()) rollBack(row, at);
          }
          each(cells, cell -> goOn(cell.isKept() && !cell.isKeptBack(), cell, before, after));
          trace.reached("a rollback at three servers");
          busy.judge();
        }
        String status = stoa(0, "status", "--server", at);
        holds(!status.contains("quarantine"), status);
      }
    } finally {
      Directories.delete(data);
    }
  }

  private static void restart(LocalServers servers, ClassLoader classes, Busy busy)
      throws Exception {
    for (int i = 0; i < SERVERS; i++) {
      busy.await();
      servers.restart(i, classes);
      PlacementWait.await(servers.address(i), SERVERS);
    }
    busy.await();
  }

  private static void rollBack(Cell row, String at) {
    boolean isKept = row.isKeptBack();
    String told =
        stoa(isKept ? 0 : 1, "deploy", "--rollback", "thing" + row.number(), "--server", at);
    if (row.change().back() instanceof CodeChange.Outcome.Refused(String words)) {
      holds(told.contains(words), row + ": " + told);
    }
  }

  /// How many versions a list has of the class of a row.
  private static int versions(String listed, Cell row) {
    List<String> lines = listed.lines().toList();
    int from = lines.indexOf("thing" + row.number()) + 1;
    int to = from;
    while (to < lines.size() && lines.get(to).startsWith("  ")) to++;
    return to - from;
  }

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    int code = Main.run(out, out, arguments);
    holds(code == exitCode, String.join(" ", arguments) + " ended with " + code + ": " + text);
    return text.toString();
  }
}
