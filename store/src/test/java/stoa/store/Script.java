package stoa.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.BatchLog;
import stoa.log.LocalBatchLog;
import stoa.spi.Cancellation;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.threads.Threads;

/// A handler for tests: keeps the lines put to it, and obeys those that are commands.
///
/// `call KEY LINE` puts a line to another key and keeps what it answers; `ask KEY` asks it for its
/// lines; `loop` never returns; `spin` neither, until it is stopped; `overflow` exhausts the stack;
/// any other line is kept as it is. The answer is how many lines it keeps, and the last one. The
/// question `ask KEY` is answered with the lines of both.
final class Script implements Handler {
  /// An answer in text.
  record Said(String text) implements Answer {
    @Override
    public byte[] encoded() {
      return text.getBytes(StandardCharsets.UTF_8);
    }
  }

  static final HandlerFactory FACTORY =
      new HandlerFactory() {
        @Override
        public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
          var script = new Script();
          if (opening != null) script.lines.add(text(opening));
          return script;
        }

        @Override
        public Handler restore(Key key, byte[] checkpoint) {
          var script = new Script();
          script.lines.addAll(text(checkpoint).lines().toList());
          return script;
        }

        @Override
        public Answer failure(RuntimeException cause) {
          return new Said(cause.getClass().getSimpleName());
        }
      };

  private final List<String> lines = new ArrayList<>();

  static Store open(Disk disk, Threads threads, Duration callTimeMax, long residentBytesMax) {
    var log = new LocalBatchLog(Device.open(disk, DeviceConfig.standard()));
    return open(log, threads, callTimeMax, residentBytesMax);
  }

  static Store open(BatchLog log) {
    return open(log, Threads.real(), Duration.ofSeconds(10), 64 << 20);
  }

  private static Store open(
      BatchLog log, Threads threads, Duration callTimeMax, long residentBytesMax) {
    var config = new StoreConfig(callTimeMax, 10_000, residentBytesMax, 16, Duration.ofSeconds(5));
    var store = new Store(config, log, Clock.system(), threads);
    store.register("script", FACTORY);
    return store;
  }

  static Store open(Disk disk) {
    return open(disk, Threads.real(), Duration.ofSeconds(10), 64 << 20);
  }

  static Key key(String name) {
    return Key.of("script", name);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /// Puts a line to a key, which begins it when it is absent.
  static String put(Store store, String name, String line) {
    var request =
        store.put(
            store.target(key(name)), Put.of(bytes(line)), Terms.expecting(new Existence.Any(null)));
    return text(request.answer().encoded());
  }

  /// The lines of a key, by commas.
  static String lines(Store store, String name) {
    var request =
        store.get(
            store.target(key(name)),
            "lines",
            Terms.expecting(new Existence.Any(null)).at(Pace.SHORT));
    return text(request.answer().encoded());
  }

  @Override
  public Answer put(byte[] value, Execution execution) {
    String line = text(value);
    String[] words = line.split(" ", 3);
    switch (words[0]) {
      case "call" -> lines.add(text(call(key(words[1]), bytes(words[2]), execution)));
      case "ask" -> lines.add("(" + text(ask(key(words[1]), execution)) + ")");
      case "loop" -> {
        lines.add("looping");
        while (!lines.isEmpty()) Thread.onSpinWait();
      }
      case "spin" -> {
        lines.add("spinning");
        spin();
      }
      case "overflow" -> {
        lines.add("overflowing");
        overflow(0);
      }
      default -> lines.add(line);
    }
    return new Said(lines.size() + ":" + lines.getLast());
  }

  private void spin() {
    while (!lines.contains("never")) {
      Cancellation.check();
      Thread.onSpinWait();
    }
  }

  @SuppressWarnings("InfiniteRecursion")
  private static int overflow(int depth) {
    return 1 + overflow(depth + 1);
  }

  @Override
  public Answer get(@Nullable Object query, Execution execution) {
    if ("spin".equals(query)) spin();
    String own = String.join(",", lines);
    if (!(query instanceof String asked && asked.startsWith("ask "))) return new Said(own);
    return new Said(own + "(" + text(ask(key(asked.substring(4)), execution)) + ")");
  }

  private static byte[] call(Key target, byte[] line, Execution execution) {
    var any = new Existence.Any(null);
    return execution.isInOtherGroup(target)
        ? execution.visit(Visit.Kind.PUT, target, line, any)
        : execution.put(target, line, any);
  }

  private static byte[] ask(Key target, Execution execution) {
    var any = new Existence.Any(null);
    return execution.isInOtherGroup(target)
        ? execution.visit(Visit.Kind.GET, target, "lines", any)
        : execution.get(target, "lines", any);
  }

  @Override
  public byte[] checkpoint() {
    return bytes(String.join("\n", lines));
  }
}
