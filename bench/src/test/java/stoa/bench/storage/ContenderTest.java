package stoa.bench.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import stoa.bench.load.Load;

class ContenderTest {
  private static final int LENGTH = 1 << 20;

  @TempDir Path folder;

  static List<Contender> contenders() {
    return List.of(new PlainFiles(), new JournaledFiles(), new DeviceContender());
  }

  @ParameterizedTest
  @MethodSource("contenders")
  void readsWhatWasWrittenWhereverItLiesAndAfterOpeningAgain(Contender contender) throws Exception {
    var random = new SplittableRandom(7);
    var model = new byte[LENGTH];
    try (var store = contender.open(folder)) {
      for (int i = 0; i < 60; i++) {
        int size = 1 + random.nextInt(i % 2 == 0 ? 300 : 150_000);
        int offset = random.nextInt(LENGTH - size);
        if (i % 5 == 0) { // aligned, and large enough to be written past the page cache
          size = 64 << 10;
          offset = offset & -4096;
          offset = Math.min(offset, LENGTH - size);
        }
        ByteBuffer data = Content.aligned(size);
        for (int at = 0; at < size; at++) {
          byte value = (byte) random.nextInt();
          data.put(at, value);
          model[offset + at] = value;
        }
        store.write(offset, data);
        verify(store, model, random);
      }
      store.settle();
    }
    try (var store = contender.open(folder)) {
      verify(store, model, random);
      store.write(5, ByteBuffer.allocateDirect(1).put(0, (byte) 99));
      model[5] = 99;
      verify(store, model, random);
    }
  }

  @Test
  void aJournalApartIsInItsFolderAsLongAsTheStoreIsOpen(@TempDir Path other) throws Exception {
    Path journal = other.resolve("journal");
    try (var store = new JournaledFiles(other).open(folder)) {
      store.write(0, Content.aligned(10_000));
      assertTrue(Files.size(journal) >= 10_000);
      assertFalse(Files.exists(folder.resolve("journal")));
    }
    assertFalse(Files.exists(journal));
  }

  private static void verify(Contender.Store store, byte[] model, SplittableRandom random)
      throws Exception {
    int offset = random.nextInt(LENGTH - 1);
    ByteBuffer target = Content.aligned(1 + random.nextInt(LENGTH - offset));
    store.read(offset, target);
    var read = new byte[target.capacity()];
    target.get(0, read);
    var expected = new byte[read.length];
    System.arraycopy(model, offset, expected, 0, read.length);
    assertArrayEquals(expected, read, () -> "from offset " + offset);
  }

  @ParameterizedTest
  @MethodSource("contenders")
  void takesWritesAndValuesOfManyCallersAtOnce(Contender contender) throws Exception {
    int size = 10_000;
    var content = new Content(2, 1 << 20);
    try (var store = contender.open(folder)) {
      new Sweep(8, Load.Threads.PLATFORM)
          .run(
              100,
              (caller, turn) -> {
                long offset = (long) turn * size;
                store.write(offset, content.at(caller, offset, size));
                store.put(turn, content.at(caller, 100L * turn, 100));
              });
      ByteBuffer target = Content.aligned(100 * size);
      store.read(0, target);
      assertTrue(content.mismatch(0, target) < 0, "a byte is not what was written");
    }
  }
}
