package stoa.bench.machine;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.bench.load.Counter;
import stoa.programs.ChildProcess;

/// Parts of benchmarks that need a Java process of their own: a process that ends without closing
/// its store, or whose heap is small or holds nothing else.
///
/// A child reports numbers to its parent, a line each on its standard output.
public final class TaskProcess {
  /// Bytes in one call of [#writeHistory].
  public static final int NOTE_BYTES = 128;

  /// Objects over which [#writeHistory] spreads its calls.
  public static final int HISTORY_OBJECTS = 1_000;

  private static final int CALLERS = 240;

  private TaskProcess() {}

  /// The report of a child, and its end.
  ///
  /// @param numbers the last number under each name
  /// @param exit its exit code
  public record Told(Map<String, Double> numbers, int exit) {
    /// Returns a number that the child must have reported.
    public double number(String name) {
      Double number = numbers.get(name);
      if (number == null) {
        throw new IllegalStateException(
            "the child process ended with %d and did not tell %s".formatted(exit, name));
      }
      return number;
    }
  }

  /// Runs a child to its end.
  public static Told run(List<String> javaOptions, String task, Object... arguments)
      throws IOException, InterruptedException {
    return run(TaskProcess.class, javaOptions, task, arguments);
  }

  /// Runs a child with a main class of its own to its end.
  public static Told run(Class<?> main, List<String> javaOptions, String task, Object... arguments)
      throws IOException, InterruptedException {
    var process = start(main, javaOptions, task, arguments);
    var numbers = new HashMap<String, Double>();
    try (var lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        int blank = line.indexOf(' ');
        if (blank > 0) numbers.put(line.substring(0, blank), Double.valueOf(line.substring(blank)));
      }
    }
    return new Told(numbers, process.waitFor());
  }

  /// Starts a Java process; its standard error is that of this process.
  public static Process start(
      Class<?> main, List<String> javaOptions, String task, Object... arguments)
      throws IOException {
    var all = new ArrayList<>(List.of(task));
    for (Object argument : arguments) all.add(argument.toString());
    var command =
        ChildProcess.command(List.of(), main.getName(), javaOptions, ChildProcess.classPath(), all);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /// The child's side.
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[1]);
    long size = Long.parseLong(arguments[2]);
    switch (arguments[0]) {
      case "history" -> writeHistory(folder, size);
      case "idle" -> measureIdle(folder, (int) size);
      case "heap" -> fillHeap(folder, (int) size);
      default -> throw new IllegalArgumentException("no task is called " + arguments[0]);
    }
  }

  /// Fills a store with at least a number of bytes and halts without closing it.
  private static void writeHistory(Path folder, long bytes) throws Exception {
    Stoa stoa = Stoa.open("file:" + folder);
    var counters = new ArrayList<Counter>();
    for (int i = 0; i < HISTORY_OBJECTS; i++) counters.add(stoa.get(Counter.class, key(i)));
    byte[] note = new byte[NOTE_BYTES];
    long calls = 0;
    while (DiskLimits.bytes(folder) < bytes) {
      int more = (int) Math.min(200_000, Math.max(1_000, bytes / (4L * NOTE_BYTES)));
      inParallel(more, i -> counters.get(i % HISTORY_OBJECTS).note(note));
      calls += more;
    }
    tell("calls", (double) calls);
    Runtime.getRuntime().halt(0);
  }

  /// Measures the heap that resident objects take in a store, and plain ones in a map.
  private static void measureIdle(Path folder, int objects) throws Exception {
    Map<String, Counter> plain = new HashMap<>();
    long before = usedHeap();
    for (int i = 0; i < objects; i++) plain.put(key(i), new Counter(key(i)));
    tell("plain", (double) (usedHeap() - before) / objects);
    if (plain.size() != objects) throw new IllegalStateException("keys repeat");
    plain.clear();

    var limits = Limits.standard().withResidentBytesMax(Runtime.getRuntime().maxMemory());
    try (var stoa = Stoa.open(StoaConfig.of("file:" + folder).withLimits(limits))) {
      inParallel(objects / 10, i -> stoa.get(Counter.class, "warm-up " + i).add(1));
      before = usedHeap();
      inParallel(objects, i -> stoa.get(Counter.class, key(i)).add(1));
      tell("idle", (double) (usedHeap() - before) / objects);
    }
  }

  /// Creates objects in a small heap, reports their number, and reads some of them again.
  private static void fillHeap(Path folder, int objects) throws Exception {
    int step = Math.max(1, objects / 50);
    try (var stoa = Stoa.open("file:" + folder)) {
      for (int done = 0; done < objects; done += step) {
        int from = done;
        inParallel(step, i -> stoa.get(Counter.class, key(from + i)).add(1));
        tell("objects", done + step);
      }
      for (int i = 0; i < objects; i += Math.max(1, objects / 1000)) {
        Optional<Counter> found = stoa.find(Counter.class, key(i));
        if (found.isEmpty() || found.get().value() != 1) {
          throw new IllegalStateException(key(i) + " is not as it was left");
        }
      }
    }
    tell("verified", 1);
  }

  /// The work of [#inParallel] for each number.
  @FunctionalInterface
  private interface Step {
    void take(int i) throws Exception;
  }

  /// Takes the steps 0 to `steps - 1`, several at a time.
  private static void inParallel(int steps, Step step) throws Exception {
    var done = new CountDownLatch(CALLERS);
    var failure = new AtomicReference<Throwable>();
    for (int caller = 0; caller < CALLERS; caller++) {
      int first = caller;
      Thread.ofVirtual()
          .start(() -> {
            try {
              for (int i = first; i < steps && failure.get() == null; i += CALLERS) {
                step.take(i);
              }
            } catch (Throwable e) {
              failure.compareAndSet(null, e);
            } finally {
              done.countDown();
            }
          });
    }
    done.await();
    Throwable failed = failure.get();
    if (failed != null) throw new IllegalStateException("a caller failed: " + failed, failed);
  }

  private static String key(int i) {
    return "object " + i;
  }

  private static long usedHeap() {
    var memory = ManagementFactory.getMemoryMXBean();
    memory.gc();
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }

  private static void tell(String name, double number) {
    System.out.println(name + " " + number);
  }
}
