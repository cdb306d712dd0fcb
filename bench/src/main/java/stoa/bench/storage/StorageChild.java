package stoa.bench.storage;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.SplittableRandom;
import stoa.bench.load.Load;
import stoa.bench.machine.Memory;

/// Parts of the storage benchmark that need a Java process with limits of its own.
///
/// It reports numbers to its parent, as [TaskProcess] does.
final class StorageChild {
  private static final int SIZE = 64 << 10;
  private static final int COPIES = 4;

  private StorageChild() {}

  /// Writes a number of bytes with a contender, in random order and unaligned, opens the store
  /// again, reads all in another order and verifies it.
  public static void main(String[] arguments) throws Exception {
    Contender contender = StorageBenchmark.contender(arguments[0]);
    Path folder = Path.of(arguments[1]);
    int pieces = (int) (Long.parseLong(arguments[2]) / SIZE);
    var content = new Content(COPIES, SIZE);
    var targets = new ArrayList<ByteBuffer>();
    for (int i = 0; i < StorageRun.OPERATIONS; i++) targets.add(Content.aligned(SIZE));
    var sweep = new Sweep(StorageRun.OPERATIONS, Load.Threads.PLATFORM);
    int[] order = order(pieces);
    long heap = Memory.liveHeap();
    long direct = Memory.direct();
    try (var memory = new Memory()) {
      try (var store = contender.open(folder)) {
        double seconds =
            sweep.run(
                pieces,
                (caller, turn) -> {
                  long offset = (long) order[turn] * SIZE + 1;
                  store.write(offset, content.at(caller, offset, SIZE));
                });
        tell("write", (double) pieces * SIZE / seconds);
      }
      long start = System.nanoTime();
      try (var store = contender.open(folder)) {
        tell("open", (System.nanoTime() - start) / 1e9);
        double seconds =
            sweep.run(
                pieces,
                (caller, turn) -> {
                  long offset = (long) order[pieces - 1 - turn] * SIZE + 1;
                  ByteBuffer target = targets.get(caller).clear();
                  store.read(offset, target);
                  long wrong = content.mismatch(offset, target);
                  if (wrong >= 0)
                    throw new IllegalStateException("a wrong byte at offset " + wrong);
                });
        tell("read", (double) pieces * SIZE / seconds);
      }
      tell("heap", (double) (memory.heapMax() - heap));
      tell("direct", (double) (memory.directMax() - direct));
    }
    tell("whole-process", (double) Memory.residentMax());
    tell("verified", 1);
  }

  /// Returns the numbers below a limit in a random order.
  private static int[] order(int limit) {
    int[] order = new int[limit];
    var random = new SplittableRandom(4711);
    for (int i = 0; i < limit; i++) {
      int j = random.nextInt(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    return order;
  }

  private static void tell(String name, double number) {
    System.out.println(name + " " + number);
  }
}
