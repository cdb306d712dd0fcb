package stoa.bench;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/// Measures what the paper's Figure 5 shows: reading from front to back with 32 concurrent reads of
/// 4 MiB what was written in different orders, as it lies then and after the store has reordered
/// it.
final class OrderPhase {
  private static final int SHIFT = 513;

  /// A way to write an object in full.
  ///
  /// @param random whether the pieces are written in a random order, else from front to back
  /// @param aligned whether pieces begin at multiples of their size, else 513 bytes behind them
  /// @param size the size of a piece in bytes
  record Order(boolean random, boolean aligned, int size) {
    /// The ways that are measured.
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

  /// The name of a bandwidth of reading, in MiB/s.
  static String bandwidth(Order order, When when, String contender) {
    return "read of written %s, %s, %s".formatted(order, when, contender);
  }

  /// The name of what reordering sent to the disk ÷ the bytes of the object.
  static String moved(Order order, String contender) {
    return "bytes moved to reorder written %s, %s".formatted(order, contender);
  }

  /// When an object is read.
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
    for (Order order : Order.all()) {
      run.progress().accept("writing %s, %s".formatted(order, contender.name()));
      Path folder = run.fresh(contender.name());
      try (var store = contender.open(folder)) {
        write(store, order);
        store.settle();
        read(store, folder, order, When.BEFORE, contender);
        ProcessIo before = ProcessIo.now();
        run.progress().accept("reordering %s, %s".formatted(order, contender.name()));
        while (store.maintain()) {}
        run.samples()
            .add(
                moved(order, contender.name()),
                (double) ProcessIo.now().since(before).writtenBytes() / run.scale().orderBytes());
        read(store, folder, order, When.AFTER, contender);
      }
      StorageRun.delete(folder);
    }
    targets.clear();
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

  private void read(Contender.Store store, Path folder, Order order, When when, Contender contender)
      throws Exception {
    int size = StorageRun.SIZE_MAX;
    int reads = (int) (run.scale().orderBytes() / size);
    var sweep = new Sweep(StorageRun.OPERATIONS, Load.Threads.PLATFORM);
    for (int round = 0; round < run.scale().rounds(); round++) {
      run.progress().accept("reading what was written %s, %s".formatted(order, when));
      PageCache.drop(folder);
      double seconds =
          sweep.run(
              reads, (caller, turn) -> store.read((long) turn * size, targets.get(caller).clear()));
      run.samples()
          .add(
              bandwidth(order, when, contender.name()),
              run.scale().orderBytes() / seconds / (1 << 20));
    }
    long[] wrong = new long[reads];
    sweep.run(
        reads,
        (caller, turn) -> {
          long offset = (long) turn * size;
          ByteBuffer target = targets.get(caller).clear();
          store.read(offset, target);
          wrong[turn] = run.content().mismatch(offset, target);
        });
    long first = Arrays.stream(wrong).filter(at -> at >= 0).findFirst().orElse(-1);
    if (first >= 0) {
      throw new IllegalStateException(
          "%s answered a wrong byte at offset %d, %s".formatted(contender.name(), first, when));
    }
  }
}
