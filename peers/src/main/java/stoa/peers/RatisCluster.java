package stoa.peers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftClientReply;
import stoa.bench.cluster.ClusterContender;
import stoa.bench.machine.ServerJava;
import stoa.programs.BackgroundProcess;

/// Bare Apache Ratis, in processes of its own: one group whose state machine counts. It is the
/// limit of a store with this consensus; *batched* means that the client sends all increments that
/// have arrived while the previous entry is in progress as one entry.
public final class RatisCluster implements ClusterContender {
  /// The contender.
  public RatisCluster() {}

  @Override
  public String name() {
    return "Ratis";
  }

  @Override
  public String guarantee() {
    return "forced to the disks of a majority of 3; a repeated call counts twice";
  }

  @Override
  public Running start(Path folder, int servers) throws Exception {
    RatisNode.silence();
    List<Integer> ports = FreePorts.some(servers);
    var processes = new ArrayList<BackgroundProcess>();
    try {
      for (int i = 0; i < servers; i++) {
        var arguments = new ArrayList<>(List.of("" + i, folder.resolve("n" + i).toString()));
        ports.forEach(port -> arguments.add("" + port));
        processes.add(
            BackgroundProcess.java(RatisNode.class.getName(), ServerJava.HEAP, arguments));
      }
      for (BackgroundProcess process : processes) process.await(RatisNode.READY);
      var client =
          RaftClient.newBuilder()
              .setProperties(new RaftProperties())
              .setRaftGroup(RatisNode.group(ports))
              .build();
      return new Client(processes, client);
    } catch (Exception e) {
      BackgroundProcess.closeAll(processes);
      throw e;
    }
  }

  private static final class Client implements Running {
    private final List<BackgroundProcess> servers;
    private final RaftClient client;
    private final Batched batched;

    Client(List<BackgroundProcess> servers, RaftClient client) {
      this.servers = servers;
      this.client = client;
      batched = new Batched(client);
    }

    @Override
    public Duration processorTime() {
      return BackgroundProcess.processorTime(servers);
    }

    @Override
    public Map<String, Counters> counters() {
      var kinds = new LinkedHashMap<String, Counters>();
      kinds.put("Ratis", new Single(client));
      kinds.put("Ratis, batched", batched);
      return kinds;
    }

    @Override
    public void close() throws IOException {
      try (client) {
        batched.end();
      } finally {
        BackgroundProcess.killAll(servers);
      }
    }
  }

  private static ByteBuffer answer(RaftClientReply reply) {
    if (!reply.isSuccess()) throw new IllegalStateException("Ratis: " + reply);
    return reply.getMessage().getContent().asReadOnlyByteBuffer();
  }

  /// An entry for each increment.
  private record Single(RaftClient client) implements Counters {
    @Override
    public long increment(int counter) throws Exception {
      return answer(client.async().send(RatisNode.message(List.of(counter))).get()).getLong();
    }

    @Override
    public long value(int counter) throws Exception {
      return answer(client.async().sendReadOnly(RatisNode.message(List.of(counter))).get())
          .getLong();
    }
  }

  /// An entry for all increments that have arrived. A thread of its own sends them.
  private static final class Batched implements Counters {
    private record Wanted(int counter, CompletableFuture<Long> answer) {}

    private static final Wanted END = new Wanted(-1, new CompletableFuture<>());

    // Its counters come after those of [Single].
    private static final int FIRST = 100;

    private final RaftClient client;
    private final LinkedBlockingQueue<Wanted> wanted = new LinkedBlockingQueue<>();

    Batched(RaftClient client) {
      this.client = client;
      Thread.ofPlatform().daemon().name("ratis-batches").start(this::run);
    }

    private void run() {
      var taken = new ArrayList<Wanted>();
      while (true) {
        taken.clear();
        try {
          taken.add(wanted.take());
          wanted.drainTo(taken);
          if (taken.contains(END)) return;
          var named = taken.stream().map(Wanted::counter).toList();
          ByteBuffer answers = answer(client.async().send(RatisNode.message(named)).get());
          for (Wanted each : taken) each.answer.complete(answers.getLong());
        } catch (Exception failed) {
          for (Wanted each : taken) each.answer.completeExceptionally(failed);
        }
      }
    }

    void end() {
      wanted.add(END);
    }

    @Override
    public long increment(int counter) throws Exception {
      var one = new Wanted(FIRST + counter, new CompletableFuture<>());
      wanted.add(one);
      return one.answer.get();
    }

    @Override
    public long value(int counter) throws Exception {
      return new Single(client).value(FIRST + counter);
    }
  }
}
