package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Blob;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.node.ServerConfig;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.StoreGrpc;
import stoa.wire.proto.WhereRequest;

/// Servers in this process, which talk over the loopback device.
class ClusterServerTest {
  @Shared(name = "cluster.Counter")
  static class Counter {
    private long value;

    long increment() {
      return ++value;
    }

    @Accessor
    long value() {
      return value;
    }
  }

  @TempDir private Path directory;
  private final List<ClusterServer> servers = new ArrayList<>();

  /// Where clients found the servers first: the others have noted it.
  private final Map<String, Integer> ports = new HashMap<>();

  private void start(String... names) throws IOException {
    for (String name : names) {
      ClusterServer contact = servers.isEmpty() ? null : servers.getFirst();
      servers.add(
          ClusterServer.start(
              new ClusterServer.Options(
                  directory.resolve(name),
                  ServerConfig.of("127.0.0.1", ports.getOrDefault(name, 0)),
                  name,
                  "127.0.0.1",
                  0,
                  null,
                  contact == null ? null : "127.0.0.1:" + contact.port(),
                  contact(contact),
                  StoaConfig.of("file:" + directory.resolve(name)),
                  ClusterServerTest.class.getClassLoader(),
                  _ -> true)));
      ports.put(name, servers.getLast().port());
    }
  }

  private static Contact contact(@Nullable ClusterServer joined) {
    return new Contact() {
      @Override
      public void join(String name, String member) {
        var request = JoinRequest.newBuilder().setServer(name).setMember(member).build();
        String refusal =
            ask(leader(Objects.requireNonNull(joined)), to -> to.join(request)).getRefusal();
        if (!refusal.isEmpty()) throw new Unavailable(refusal);
      }

      @Override
      public void report(String address, byte[] evidence) {
        throw new AssertionError("a counter is deterministic");
      }
    };
  }

  @AfterEach
  void close() {
    servers.forEach(ClusterServer::close);
    servers.clear();
  }

  private static <T> T ask(int port, Function<StoreGrpc.StoreBlockingStub, T> question) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    try {
      return question.apply(
          StoreGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS));
    } finally {
      channel.shutdownNow();
    }
  }

  /// The port of the server that has the store, which one of them tells as soon as it knows.
  private static int leader(ClusterServer asked) {
    String leader =
        ask(asked.port(), to -> to.where(WhereRequest.getDefaultInstance())).getLeader();
    return Integer.parseInt(leader.substring(leader.lastIndexOf(':') + 1));
  }

  private static Stoa open(ClusterServer server) {
    return Stoa.open("stoa://127.0.0.1:" + server.port());
  }

  @Test
  void callsGoOnWhenTheServerThatHasTheStoreStops() throws Exception {
    start("a", "b", "c");
    try (Stoa stoa = open(servers.get(1))) {
      Counter counter = stoa.get(Counter.class, "hot");
      assertEquals(1, counter.increment());
      int leading = leader(servers.get(1));
      try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        var calls = new ArrayList<Future<Long>>();
        for (int i = 0; i < 200; i++) calls.add(callers.submit(counter::increment));
        for (ClusterServer server : List.copyOf(servers)) {
          if (server.port() != leading) continue;
          servers.remove(server);
          server.close();
        }
        for (int i = 0; i < 200; i++) calls.add(callers.submit(counter::increment));
        var answers = new TreeSet<Long>();
        for (var call : calls) answers.add(call.get());
        assertEquals(400, answers.size());
        assertEquals(401, answers.last());
      }
      assertEquals(401, counter.value());
      assertNotEquals(leading, leader(servers.getFirst()));
    }
  }

  @Test
  void aServerThatIsDrainedIsOutAndTheOthersGoOn() throws Exception {
    start("a", "b", "c");
    try (Stoa stoa = open(servers.getFirst())) {
      Counter counter = stoa.get(Counter.class, "drained");
      assertEquals(1, counter.increment());
      for (String name : List.of("a", "b")) {
        ClusterServer gone = servers.removeFirst();
        assertEquals(name, gone.name());
        var request = DrainRequest.newBuilder().setServer(name).build();
        assertEquals("", ask(leader(servers.getLast()), to -> to.drain(request)).getRefusal());
        gone.close();
        counter.increment();
      }
      assertEquals(3, counter.value());
      var last = DrainRequest.newBuilder().setServer("c").build();
      String refusal = ask(leader(servers.getLast()), to -> to.drain(last)).getRefusal();
      assertTrue(refusal.contains("last one"), refusal);
      var status =
          ask(servers.getLast().port(), to -> to.status(StatusRequest.getDefaultInstance()));
      assertEquals("leads", status.getRole());
      assertEquals(1, status.getServersCount());
    }
  }

  @Test
  void allAreStartedAgainAndHaveWhatWasThere() throws Exception {
    start("a", "b", "c");
    try (Stoa stoa = open(servers.getFirst())) {
      assertEquals(1, stoa.get(Counter.class, "kept").increment());
      assertThrows(UnsupportedOperationException.class, () -> stoa.get(Blob.class, "b").size());
    }
    close();
    start("b", "c", "a");
    try (Stoa stoa = open(servers.getFirst())) {
      assertEquals(2, stoa.get(Counter.class, "kept").increment());
    }
  }
}
