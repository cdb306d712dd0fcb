package stoa.bench.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackpointerMapTest {
  private static final int KEYS = 20;
  private static final int CALLERS = 4;

  @TempDir Path folder;

  @Test
  void everyClientReadsTheLastPutOfAnyClient() throws Exception {
    var random = new SplittableRandom(12);
    Map<String, byte[]> expected = new HashMap<>();
    try (var map = new BackpointerMap(folder, 3, 2)) {
      assertNull(map.get(0, "key 0"));
      for (int i = 0; i < 400; i++) {
        String key = "key " + random.nextInt(KEYS);
        if (random.nextBoolean()) {
          byte[] value = {(byte) i, (byte) (i >> 8)};
          map.put(key, value);
          expected.put(key, value);
        } else {
          assertArrayEquals(expected.get(key), map.get(random.nextInt(2), key));
        }
      }
    }
  }

  @Test
  void putsOfManyCallersAreReadAtOnceAndNoneIsLost() throws Exception {
    try (var map = new BackpointerMap(folder, 2, CALLERS);
        var threads = Executors.newFixedThreadPool(CALLERS)) {
      var tasks = new ArrayList<Callable<Boolean>>();
      for (int i = 0; i < CALLERS; i++) {
        int caller = i;
        tasks.add(() -> {
          for (int turn = 1; turn <= 100; turn++) {
            map.put("key " + caller, ByteBuffer.allocate(4).putInt(turn).array());
            byte[] read = map.get(caller, "key " + caller);
            if (read == null || ByteBuffer.wrap(read).getInt() != turn) return false;
          }
          return true;
        });
      }
      for (var done : threads.invokeAll(tasks)) assertEquals(true, done.get());
      for (int i = 0; i < CALLERS; i++) {
        byte[] last = map.get((i + 1) % CALLERS, "key " + i);
        assertArrayEquals(ByteBuffer.allocate(4).putInt(100).array(), last);
      }
    }
  }
}
