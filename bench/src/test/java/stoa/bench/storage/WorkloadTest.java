package stoa.bench.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Load;
import stoa.bench.machine.PageCache;

class WorkloadTest {
  @TempDir Path folder;

  @Test
  void aLinearWorkloadVisitsEachBlockInTurnAndBeginsAgain() {
    var offsets = Pattern.LINEAR_ALIGNED.offsets(2, 100, 350);
    for (long expected : new long[] {0, 100, 200, 0, 100}) {
      assertEquals(expected, offsets.applyAsLong(1));
    }
  }

  @Test
  void aRandomWorkloadStaysInsideAndIsNeverAligned() {
    var offsets = Pattern.RANDOM_UNALIGNED.offsets(3, 4096, 8192);
    for (int i = 0; i < 10_000; i++) {
      long offset = offsets.applyAsLong(i % 3);
      assertTrue(offset > 0 && offset + 4096 <= 8192 && offset % 2 == 1, () -> "at " + offset);
    }
  }

  @Test
  void contentIsTheSameInWhateverPiecesAndAligned() {
    var content = new Content(2, 1 << 20);
    ByteBuffer whole = Content.aligned(3 << 20);
    for (long at = 0; at < whole.capacity(); at += 12_345) {
      int size = (int) Math.min(12_345, whole.capacity() - at);
      whole.put(content.at((int) at, at, size));
    }
    assertEquals(-1, content.mismatch(0, whole));
    whole.put(2_000_001, (byte) 0);
    assertEquals(2_000_001, content.mismatch(0, whole));
    assertEquals(0, content.at(1, 40_960, 4096).alignmentOffset(0, Content.ALIGNMENT));
  }

  @Test
  void aSweepDoesEachOperationOnceAndReportsACallerThatFailed() throws Exception {
    var counts = new AtomicIntegerArray(1_000);
    new Sweep(7, Load.Threads.PLATFORM).run(1_000, (_, turn) -> counts.incrementAndGet(turn));
    for (int i = 0; i < counts.length(); i++) assertEquals(1, counts.get(i));
    assertThrows(
        IllegalStateException.class,
        () ->
            new Sweep(2, Load.Threads.VIRTUAL)
                .run(
                    10,
                    (_, _) -> {
                      throw new IllegalArgumentException("no");
                    }));
  }

  @Test
  void aSweepEndsWhenItsTimeIsOver() throws Exception {
    var sweep = new Sweep(3, Load.Threads.PLATFORM);
    var over = sweep.run(Integer.MAX_VALUE, Duration.ofMillis(1), (_, _) -> {});
    assertTrue(over.operations() < Integer.MAX_VALUE && over.seconds() >= 0.001, over::toString);
    assertEquals(5, sweep.run(5, Duration.ofHours(1), (_, _) -> {}).operations());
  }

  @Test
  void droppingTheCacheLeavesTheFilesAsTheyAre() throws Exception {
    Path file = Files.write(folder.resolve("a"), new byte[] {1, 2, 3});
    boolean asked = PageCache.drop(folder);
    assertEquals(System.getProperty("os.name").equals("Linux"), asked);
    assertEquals(3, Files.readAllBytes(file).length);
  }
}
