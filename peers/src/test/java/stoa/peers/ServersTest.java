package stoa.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.remote.RemoteContender;
import stoa.bench.remote.RemoteContender.Connection;
import stoa.bench.remote.RemoteContender.Persistence;

class ServersTest {
  @TempDir Path folder;

  @Test
  void redisDoesWhatIsCounted() throws Exception {
    check(new RedissonContender(), List.of(Persistence.values()));
  }

  @Test
  void hazelcastDoesWhatIsCounted() throws Exception {
    check(new HazelcastContender(), List.of(Persistence.NONE));
  }

  @Test
  void infinispanDoesWhatIsCounted() throws Exception {
    check(new InfinispanContender(), List.of(Persistence.values()));
  }

  /// Every answer of a contender that the benchmark counts is one that an only copy of the state
  /// would give.
  private void check(RemoteContender contender, List<Persistence> persistences) throws Exception {
    for (Persistence persistence : Persistence.values()) {
      boolean able = persistences.contains(persistence);
      assertEquals(able, !contender.operations(persistence).isEmpty(), contender.name());
      if (!able) continue;
      Path data = Files.createDirectories(folder.resolve(contender.name() + persistence.name()));
      try (Connection client = contender.start(data, persistence)) {
        values(client);
        counters(client);
        queue(client);
        copies(client);
        assertFalse(client.serverProcessorTime().isNegative());
      }
    }
  }

  private static void values(Connection client) throws Exception {
    byte[] value = {1, 2, 3};
    client.put(new byte[100]);
    client.put(value);
    assertArrayEquals(value, client.value());
  }

  private static void counters(Connection client) throws Exception {
    var answers = ConcurrentHashMap.<Long>newKeySet();
    IntStream.range(0, 400)
        .parallel()
        .forEach(i -> {
          try {
            long answer = client.increment(i % 2);
            if (i % 2 == 0) answers.add(answer);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    assertEquals(200, answers.size(), "two callers were given the same number");
    assertEquals(200, client.count(0));
    assertEquals(200, client.count(1));
    assertEquals(0, client.count(99));
  }

  private static void queue(Connection client) throws Exception {
    client.enqueue(7);
    client.enqueue(8);
    assertEquals(7, client.dequeue());
    assertEquals(8, client.dequeue());
    assertThrows(IllegalStateException.class, client::dequeue);
    var taken = ConcurrentHashMap.<Long>newKeySet();
    IntStream.range(0, 200)
        .parallel()
        .forEach(i -> {
          try {
            client.enqueue(i);
            taken.add(client.dequeue());
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    Set<Long> all = new HashSet<>();
    for (long i = 0; i < 200; i++) all.add(i);
    assertEquals(all, taken);
  }

  private static void copies(Connection client) throws Exception {
    assertEquals(0, client.cached());
    client.publish(5);
    assertEquals(5, client.cached());
  }

  @Test
  void theBenchmarkFindsThem() {
    var names =
        ServiceLoader.load(RemoteContender.class).stream()
            .map(provider -> provider.get().name())
            .toList();
    assertEquals(List.of("Redisson", "Hazelcast", "Infinispan"), names);
  }
}
