package stoa.trials;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import stoa.Blob;
import stoa.BlobReader;
import stoa.BlobSnapshot;
import stoa.BlobWrite;
import stoa.Stoa;
import stoa.sim.Chance;
import stoa.sim.check.Linearizability;
import stoa.sim.world.Recorder;

/// Writes and reads of a few blobs from many threads, and the check of the answers: bytes identify
/// their writer; a read must return the last acknowledged write or one in progress, and each write
/// only as a whole. Thread-safe.
final class RecordedBlobs {
  private static final int BLOBS = 2;
  // A read of all cells also passes through connections that end early.
  private static final int CELL_BYTES = 600;
  private static final int SNAPSHOTS_MAX = 12;

  private final Recorder<BlobCells.Input, BlobCells.Output> calls = new Recorder<>();
  private final ConcurrentLinkedQueue<FirstRead> kept = new ConcurrentLinkedQueue<>();
  private final AtomicLong unique = new AtomicLong();
  private final Consumer<String> reached;

  /// A snapshot, and the cells of its first read.
  private record FirstRead(String key, long version, List<Long> cells) {}

  RecordedBlobs(Consumer<String> reached) {
    this.reached = reached;
  }

  private static String key(int index) {
    return "blob " + index;
  }

  /// Returns the bytes of a cell: they only identify the writer.
  private static byte[] bytes(long number) {
    var bytes = ByteBuffer.allocate(CELL_BYTES);
    while (bytes.hasRemaining()) bytes.putLong(number);
    return bytes.array();
  }

  private static List<Long> cells(BlobReader reader) {
    byte[] all = reader.read(0, BlobCells.COUNT * CELL_BYTES);
    var numbers = new ArrayList<Long>();
    for (int i = 0; i < BlobCells.COUNT; i++) {
      byte[] cell = Arrays.copyOfRange(all, i * CELL_BYTES, (i + 1) * CELL_BYTES);
      long number = ByteBuffer.wrap(cell).getLong();
      if (!Arrays.equals(cell, bytes(number))) {
        throw new AssertionError("cell " + i + " of " + reader + " is of several writes");
      }
      numbers.add(number);
    }
    return List.copyOf(numbers);
  }

  /// Reads all once more, then checks the records.
  ///
  /// @throws AssertionError with an inconsistency
  void require(Stoa stoa) throws Exception {
    var last = worker("last", stoa, new Chance(0));
    for (int i = 0; i < BLOBS; i++) last.read(i);
    for (FirstRead one : kept) {
      List<Long> now = cells(stoa.get(Blob.class, one.key).at(one.version));
      if (!now.equals(one.cells)) throw new AssertionError(one + " has become " + now);
    }
    Linearizability.require(new BlobCells(), calls.history());
  }

  Worker worker(String name, Stoa stoa, Chance chance) {
    return new Worker(calls.client(name), stoa, chance);
  }

  /// One thread of the work.
  final class Worker {
    private final Recorder.Client<BlobCells.Input, BlobCells.Output> calls;
    private final Stoa stoa;
    private final Chance chance;

    private Worker(
        Recorder.Client<BlobCells.Input, BlobCells.Output> calls, Stoa stoa, Chance chance) {
      this.calls = calls;
      this.stoa = stoa;
      this.chance = chance;
    }

    /// Makes the next call; returns whether it was answered.
    boolean turn() throws Exception {
      int index = chance.below(BLOBS);
      int dice = chance.below(100);
      if (dice < 40) return read(index);
      if (dice < 50 && kept.size() < SNAPSHOTS_MAX) return keep(index);
      return write(index, dice < 75 ? 1 : chance.between(2, BlobCells.COUNT));
    }

    private Blob blob(int index) {
      return stoa.get(Blob.class, key(index));
    }

    private boolean did(BlobCells.Input input, java.util.concurrent.Callable<BlobCells.Output> body)
        throws Exception {
      return RecordedWork.call(calls, input, body, reached)
          instanceof RecordedWork.Told.Answered<BlobCells.Output>;
    }

    private boolean read(int index) throws Exception {
      return did(
          new BlobCells.Input.Read(key(index)),
          () -> new BlobCells.Output.Seen(cells(blob(index))));
    }

    /// Takes a snapshot: it keeps the cells that a read would have returned.
    private boolean keep(int index) throws Exception {
      return did(
          new BlobCells.Input.Read(key(index)),
          () -> {
            if (blob(index).version() == 0) return new BlobCells.Output.Seen(cells(blob(index)));
            BlobSnapshot snapshot = blob(index).snapshot();
            List<Long> cells = cells(snapshot);
            kept.add(new FirstRead(key(index), snapshot.version(), cells));
            reached.accept("a snapshot of a blob");
            return new BlobCells.Output.Seen(cells);
          });
    }

    private boolean write(int index, int count) throws Exception {
      SortedMap<Integer, Long> cells = new TreeMap<>();
      int first = chance.below(BlobCells.COUNT);
      for (int i = 0; i < count; i++) {
        cells.put((first + i) % BlobCells.COUNT, unique.incrementAndGet());
      }
      boolean done =
          did(
              new BlobCells.Input.Write(key(index), cells),
              () -> new BlobCells.Output.Done(write(blob(index), cells)));
      if (done) reached.accept(count == 1 ? "a range is written" : "several ranges are written");
      return done;
    }

    private long write(Blob blob, SortedMap<Integer, Long> cells) {
      if (cells.size() == 1) {
        var only = cells.firstEntry();
        return blob.write((long) only.getKey() * CELL_BYTES, bytes(only.getValue()));
      }
      try (BlobWrite write = blob.begin()) {
        cells.forEach((cell, number) -> write.write((long) cell * CELL_BYTES, bytes(number)));
        return write.commit();
      }
    }
  }
}
