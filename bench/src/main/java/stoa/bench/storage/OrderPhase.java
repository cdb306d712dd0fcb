package stoa.bench.storage;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import stoa.bench.load.Load;
import stoa.bench.machine.PageCache;
import stoa.bench.machine.ProcessIo;
import stoa.programs.Directories;

/// Measures the paper's Figure 5: the rate of reading an object from front to back, with 32
/// concurrent reads of 4 MiB, after writes in different orders, before and after the store has
/// reordered it.
final class OrderPhase {
  private static final int SHIFT = 513;

  /// A way to write an object in full.
  ///
  /// @param random whether the pieces are written in a random order, else from front to back
  /// @param aligned whether pieces begin at multiples of their size, else 513 bytes behind them
  /// @param size the size of a piece in bytes
  record Order(boolean random, boolean aligned, int size) {
    /// Returns the measured ways.
    static List<Order> all() {
      var all = new ArrayList<Order>();
      for (int size : List.of(StorageRun.SIZE_MAX, 64 << 10)) {
        for (boolean random : List.of(false, true)) {
          for (boolean aligned : List.of(true, false)) all.add(new Order(random, aligned, size));
        }
      }
      return all;
    }

    @Override
    public String toString() {
      return "%s %s %s"
          .formatted(
              random ? "random" : "linear",
              aligned ? "aligned" : "unaligned",
              StorageRun.words(size));
    }
  }

  private final StorageRun run;
  private final List<ByteBuffer> targets = new ArrayList<>();

  OrderPhase(StorageRun run) {
    this.run = run;
  }

  /// Returns the name of a bandwidth of reading, in MiB/s.
  static String bandwidth(Order order, When when, String contender) {
    return "read of written %s, %s, %s".formatted(order, when, contender);
  }

  /// Returns the name of the bandwidth of reading, in turn with that, an object written from front
  /// to back with aligned 4 MiB; in MiB/s.
  static String beside(Order order, When when, String contender) {
    return "read of written linear, beside %s, %s, %s".formatted(order, when, contender);
  }

  /// Returns the name of the bytes that reordering sent to the disk ÷ the bytes of the object.
  static String moved(Order order, String contender) {
    return "bytes moved to reorder written %s, %s".formatted(order, contender);
  }

  /// The time of a read.
  enum When {
    BEFORE("before reordering"),
    AFTER("after reordering");

    private final String text;

    When(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  void measure(Contender contender) throws Exception {
    for (int i = 0; i < StorageRun.OPERATIONS; i++) {
      targets.add(Content.aligned(StorageRun.SIZE_MAX));
    }
    Path linearFolder = run.fresh(contender.name() + " linear");
    try (var linear = contender.openUntended(linearFolder)) {
      write(linear, Order.all().getFirst());
      linear.settle();
      for (Order order : Order.all()) {
        run.progress().accept("writing %s, %s".formatted(order, contender.name()));
        Path folder = run.fresh(contender.name());
        try (var store = contender.openUntended(folder)) {
          write(store, order);
          store.settle();
          read(order, When.BEFORE, contender, store, linear);
          ProcessIo before = ProcessIo.now();
          run.progress().accept("reordering %s, %s".formatted(order, contender.name()));
          while (store.maintain()) {}
          run.samples()
              .add(
                  moved(order, contender.name()),
                  (double) ProcessIo.now().since(before).writtenBytes() / run.scale().orderBytes());
          read(order, When.AFTER, contender, store, linear);
          verify(store, contender, order);
        }
      }
    } finally {
      Directories.delete(linearFolder);
      Directories.delete(run.place(contender.name()));
      targets.clear();
    }
  }

  private void write(Contender.Store store, Order order) throws Exception {
    int size = order.size();
    int shift = order.aligned() ? 0 : SHIFT;
    if (shift > 0) store.write(0, run.content().at(0, 0, shift));
    int pieces = (int) (run.scale().orderBytes() / size);
    var turns = new ArrayList<>(IntStream.range(0, pieces).boxed().toList());
    if (order.random()) Collections.shuffle(turns, new Random(4711));
    new Sweep(StorageRun.OPERATIONS, Load.Threads.PLATFORM)
        .run(
            pieces,
            (caller, turn) -> {
              long offset = (long) turns.get(turn) * size + shift;
              store.write(offset, run.content().at(caller, offset, size));
            });
  }

  private void read(
      Order order, When when, Contender contender, Contender.Store store, Contender.Store linear)
      throws Exception {
    for (int round = 0; round < run.scale().rounds(); round++) {
      run.progress().accept("reading what was written %s, %s".formatted(order, when));
      double beside = read(linear, run.place(contender.name() + " linear"));
      run.samples().add(beside(order, when, contender.name()), beside);
      double own = read(store, run.place(contender.name()));
      run.samples().add(bandwidth(order, when, contender.name()), own);
    }
  }

  /// Reads a whole object once; returns MiB/s.
  private double read(Contender.Store store, Path folder) throws Exception {
    PageCache.drop(folder);
    double seconds =
        new Sweep(StorageRun.OPERATIONS, Load.Threads.PLATFORM)
            .run(
                reads(),
                (caller, turn) ->
                    store.read((long) turn * StorageRun.SIZE_MAX, targets.get(caller).clear()));
    return run.scale().orderBytes() / seconds / (1 << 20);
  }

  private void verify(Contender.Store store, Contender contender, Order order) throws Exception {
    new Sweep(StorageRun.OPERATIONS, Load.Threads.PLATFORM)
        .run(
            reads(),
            (caller, turn) -> {
              long offset = (long) turn * StorageRun.SIZE_MAX;
              ByteBuffer target = targets.get(caller).clear();
              store.read(offset, target);
              long wrong = run.content().mismatch(offset, target);
              if (wrong >= 0) {
                throw new IllegalStateException(
                    "%s, written %s and reordered, answered a wrong byte at offset %d"
                        .formatted(contender.name(), order, wrong));
              }
            });
  }

  private int reads() {
    return (int) (run.scale().orderBytes() / StorageRun.SIZE_MAX);
  }
}
