package stoa.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.storage.Contender;
import stoa.bench.tx.TransactionContender;

class EnginesTest {
  private static final int LENGTH = 1 << 20;

  @TempDir Path folder;

  @Test
  void everyEngineReadsWhatWasWrittenAndAfterOpeningAgain() throws Exception {
    for (Contender engine : List.of(new RocksContender(), new BlobContender()))
      writeAndRead(engine);
    writeAndRead(new MvStoreContender());
  }

  private void writeAndRead(Contender engine) throws Exception {
    var random = new SplittableRandom(7);
    var model = new byte[LENGTH];
    Path place = Files.createDirectory(folder.resolve(engine.name()));
    try (var store = engine.open(place)) {
      for (int i = 0; i < 60; i++) {
        int size = 1 + random.nextInt(i % 2 == 0 ? 300 : 150_000);
        int offset = random.nextInt(LENGTH - size);
        ByteBuffer data = ByteBuffer.allocateDirect(size);
        for (int at = 0; at < size; at++) {
          byte value = (byte) random.nextInt();
          data.put(at, value);
          model[offset + at] = value;
        }
        store.write(offset, data);
        store.put(i, ByteBuffer.allocateDirect(100));
        verify(engine, store, model, random);
      }
      store.settle();
      verify(engine, store, model, random);
    }
    try (var store = engine.open(place)) {
      verify(engine, store, model, random);
      store.write(5, ByteBuffer.allocateDirect(1).put(0, (byte) 99));
      model[5] = 99;
      verify(engine, store, model, random);
    }
  }

  private static void verify(
      Contender engine, Contender.Store store, byte[] model, SplittableRandom random)
      throws Exception {
    int offset = random.nextInt(LENGTH - 1);
    ByteBuffer target = ByteBuffer.allocateDirect(1 + random.nextInt(LENGTH - offset));
    store.read(offset, target);
    var read = new byte[target.capacity()];
    target.get(0, read);
    assertArrayEquals(
        Arrays.copyOfRange(model, offset, offset + read.length),
        read,
        () -> engine.name() + " from offset " + offset);
  }

  @Test
  void theBenchmarkFindsThem() {
    var names =
        ServiceLoader.load(Contender.class).stream()
            .map(provider -> provider.get().name())
            .toList();
    assertArrayEquals(new String[] {"RocksDB", "BlobDB", "MVStore"}, names.toArray());
  }

  @Test
  void transactionsOfManyCallersLoseNothing() throws Exception {
    for (TransactionContender engine :
        List.of(new RocksTransactions(), new MvStoreTransactions())) {
      Path place = Files.createDirectory(folder.resolve("transactions of " + engine.name()));
      try (var store = engine.open(place, 4)) {
        IntStream.range(0, 200)
            .parallel()
            .forEach(i -> {
              try {
                store.addOne(new int[] {i % 4, (i + 1 + i % 3) % 4});
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
        assertEquals(400, store.sum(), engine::name);
      }
    }
  }

  @Test
  void theBenchmarkOfTransactionsFindsThem() {
    var names =
        ServiceLoader.load(TransactionContender.class).stream()
            .map(provider -> provider.get().name())
            .toList();
    assertEquals(List.of("RocksDB", "MVStore"), names);
  }
}
