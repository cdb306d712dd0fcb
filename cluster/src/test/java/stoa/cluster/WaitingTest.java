package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.Stoa;

/// Calls that wait for conditions at servers in this process that come and go.
class WaitingTest {
  private static final int CLIENTS = 5;

  @Shared(name = "cluster.Box")
  static class Box {
    private final ArrayDeque<String> items = new ArrayDeque<>();
    private final List<String> taken = new ArrayList<>();

    public void offer(String item) {
      items.add(item);
    }

    public int touch() {
      return items.size();
    }

    @Awaits
    public String take() {
      Call.await(() -> !items.isEmpty());
      taken.add(items.element());
      return items.remove();
    }

    @Accessor
    public List<String> taken() {
      return List.copyOf(taken);
    }
  }

  @TempDir private Path directory;

  @Test
  void aWaitingCallSurvivesTheDeathAndTheStopOfItsLeaderAndRunsOnce() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = servers.open();
          Stoa other = servers.open()) {
        Box box = stoa.get(Box.class, "a");
        var calls = new ArrayList<CompletableFuture<String>>();
        for (int i = 0; i < 3; i++) calls.add(stoa.async(box, Box::take));
        Box there = other.get(Box.class, "a");
        while (other.history(there).version() < 1) Thread.onSpinWait();
        String dead = servers.haltLeader(0);
        there.offer("apple");
        while (there.taken().isEmpty()) Thread.onSpinWait();
        servers.start(dead);
        var _ = servers.stopLeader(0);
        there.offer("pear");
        there.offer("fig");
        var got = calls.stream().map(CompletableFuture::join).sorted().toList();
        assertEquals(List.of("apple", "fig", "pear"), got);
        assertEquals(List.of("apple", "pear", "fig"), there.taken());
      }
    }
  }

  @Test
  void aCallThatIsCanceledBetweenTwoLeadersTakesNothing() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = servers.open();
          Stoa other = servers.open()) {
        Box box = stoa.get(Box.class, "a");
        Box there = other.get(Box.class, "a");
        CompletableFuture<String> waiting = stoa.async(box, Box::take);
        while (servers.awaiting() < 1) Thread.onSpinWait();
        var _ = servers.haltLeader(0);
        assertTrue(waiting.cancel(false));
        there.offer("apple");
        assertEquals(1, box.touch()); // its client has repeated its requests
        assertEquals("apple", there.take());
      }
    }
  }

  @Test
  void callsKeepTheOrderOfTheirArrivalAtTheNextLeader() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      var clients = new ArrayList<Stoa>();
      try (Stoa other = servers.open()) {
        Box there = other.get(Box.class, "a");
        var calls = new ArrayList<CompletableFuture<String>>();
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(servers.open());
          Stoa client = clients.getLast();
          calls.add(client.async(client.get(Box.class, "a"), Box::take));
          while (servers.awaiting() <= i) Thread.onSpinWait();
        }
        there.touch(); // is durable behind the arrivals
        var _ = servers.haltLeader(0);
        there.touch();
        while (servers.awaiting() < CLIENTS) Thread.onSpinWait();
        for (int i = 0; i < CLIENTS; i++) there.offer("item " + i);
        for (int i = 0; i < CLIENTS; i++) assertEquals("item " + i, calls.get(i).join());
      } finally {
        clients.forEach(Stoa::close);
      }
    }
  }
}
