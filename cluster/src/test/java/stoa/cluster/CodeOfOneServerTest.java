package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.ListenerRegistration;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaException;
import stoa.cluster.RunningServers.Counter;
import stoa.cluster.RunningServers.Tally;

/// Servers of a new store, one of which alone has its classes on the class path.
class CodeOfOneServerTest {
  private static final int GROUPS = 2;
  private static final int KEYS = 6;

  record Coins(int count) {}

  @Shared(name = "cluster.Purse")
  static class Purse {
    private int coins;

    void take(Coins more) {
      coins += more.count();
    }

    int give(Purse to, Coins some) {
      to.take(some);
      coins -= some.count();
      return coins;
    }

    @Accessor
    int coins() {
      return coins;
    }
  }

  record Reading(double degrees) {}

  record Heat(Reading reading, int times) {}

  /// Counts what is too hot.
  static final class Alarm implements KeyHandler<Reading, Heat> {
    private final double limit;
    private int times;

    Alarm(double limit) {
      this.limit = limit;
    }

    @Override
    public @Nullable Heat handle(Object key, @Nullable Reading value, @Nullable Reading before) {
      return value == null || value.degrees() <= limit ? null : new Heat(value, ++times);
    }
  }

  private static final Set<Class<?>> CLASSES =
      Set.of(
          Counter.class,
          Tally.class,
          Purse.class,
          Coins.class,
          Reading.class,
          Heat.class,
          Alarm.class);

  @TempDir private Path directory;

  private static void start(RunningServers servers) throws IOException {
    servers.begin("a");
    servers.beginWithout(CLASSES, "b");
    servers.beginWithout(CLASSES, "c");
    servers.settle();
  }

  /// Notes what it is told.
  private static final class Notes implements KeyListener<Heat> {
    private final LinkedBlockingQueue<Object> told = new LinkedBlockingQueue<>();

    @Override
    public void on(KeyEvent<Heat> event) {
      told.add(event.value());
    }

    @Override
    public void ended(StoaException cause) {
      told.add(cause);
    }

    private void expect(double degrees, int times) throws InterruptedException {
      assertEquals(new Heat(new Reading(degrees), times), told.take());
    }
  }

  @Test
  void groupsWhoseLeadersLackAClassGetItsCodeFromTheServerThatHasIt() throws Exception {
    try (var servers = new RunningServers(directory, GROUPS, 3)) {
      start(servers);
      try (Stoa stoa = servers.open()) {
        var notes = new Notes();
        var registrations = new ArrayList<ListenerRegistration>();
        for (int i = 0; i < KEYS; i++) {
          count(stoa, i, 1);
          Purse next = stoa.get(Purse.class, "p" + (i + 1) % KEYS);
          assertEquals(-5, stoa.get(Purse.class, "of" + i).give(next, new Coins(5)));
          registrations.add(stoa.store().register("k" + i, notes, new Alarm(20)));
          stoa.store().put("k" + i, new Reading(30));
          notes.expect(30, 1);
        }
        servers.stop("a");
        for (int i = 0; i < KEYS; i++) {
          count(stoa, i, 2);
          assertEquals(5, stoa.get(Purse.class, "p" + i).coins());
          stoa.store().put("k" + i, new Reading(10));
          stoa.store().put("k" + i, new Reading(40));
          notes.expect(40, 2);
          assertEquals(new Reading(40), stoa.store().get("k" + i));
          assertTrue(registrations.get(i).isOpen());
        }
        try (Stoa other = servers.open()) {
          var notesOfOther = new Notes();
          var _ = other.store().register("k0", notesOfOther, new Alarm(0));
          other.store().put("k0", new Reading(50));
          notesOfOther.expect(50, 1);
          notes.expect(50, 3);
        }
      }
    }
  }

  private static void count(Stoa stoa, int number, long expected) {
    assertEquals(expected, stoa.get(Counter.class, "c" + number).increment());
    assertEquals(expected, stoa.get(Tally.class, "t" + number).increment());
  }
}
