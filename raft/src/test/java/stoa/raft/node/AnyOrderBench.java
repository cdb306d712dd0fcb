package stoa.raft.node;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.log.ByteObject;
import stoa.log.Replica;
import stoa.log.ReplicatedBatchLog;
import stoa.raft.Group;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.Reach;
import stoa.raft.Roles;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.replication.DeviceReplica;
import stoa.storage.replication.ReplicatedObject;

/// Durable writes of one object on three devices: in any order ([ReplicatedObject], with replicas
/// in this process), and through a Raft group whose members are in this process and talk over
/// connections of the machine. Arguments: a directory, seconds for each sample, rounds.
final class AnyOrderBench {
  private static final StreamId ID = new StreamId(0, 1);
  private static final long REGION = 64L << 20;

  private AnyOrderBench() {}

  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    double seconds = Double.parseDouble(args[1]);
    try (var any = new AnyOrder(directory.resolve("any"));
        var raft = new Raft(directory.resolve("raft"))) {
      for (int round = 0; round <= Integer.parseInt(args[2]); round++) {
        for (int size : new int[] {100, 4 << 10, 64 << 10}) {
          for (int flight : new int[] {1, 32}) {
            sample(round, "any order", any::write, size, flight, seconds);
            raft.lead();
            sample(round, "Raft", raft::write, size, flight, seconds);
          }
        }
      }
    }
  }

  /// A write of the bytes at an offset.
  private interface Writer {
    CompletableFuture<Long> write(long offset, ByteBuffer data);
  }

  private static void sample(
      int round, String what, Writer writer, int size, int flight, double seconds)
      throws Exception {
    var permits = new Semaphore(flight);
    var failures = new AtomicLong();
    long count = 0;
    var data = ByteBuffer.allocate(size);
    long began = System.nanoTime();
    long processor = processor();
    long end = began + (long) (seconds * 1e9);
    while (System.nanoTime() < end) {
      permits.acquire();
      var _ =
          writer
              .write(count * size % REGION, data.duplicate())
              .whenComplete((_, failure) -> {
                if (failure != null) failures.incrementAndGet();
                permits.release();
              });
      count++;
    }
    permits.acquire(flight);
    double took = (System.nanoTime() - began) / 1e9;
    if (round == 0) return; // warms up
    System.out.printf(
        Locale.ROOT,
        "%-9s %6d bytes, %2d in flight: %8.0f writes/s, %6.1f us of processor each%s%n",
        what,
        size,
        flight,
        count / took,
        (processor() - processor) / 1e3 / count,
        failures.get() == 0 ? "" : "; worthless, as another one leads now");
  }

  private static long processor() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static Device device(Path directory) throws Exception {
    return Device.open(new FileDisk(Files.createDirectories(directory)), DeviceConfig.standard());
  }

  private static final class AnyOrder implements AutoCloseable {
    private final List<Device> devices = new ArrayList<>();
    private final ReplicatedObject object;

    AnyOrder(Path directory) throws Exception {
      var replicas = new ArrayList<stoa.storage.replication.WriteReplica>();
      for (int i = 0; i < 3; i++) {
        var device = device(directory.resolve("device" + i));
        devices.add(device);
        replicas.add(new DeviceReplica(device, ID));
      }
      object = new ReplicatedObject(replicas, 1);
      object.open().get(60, TimeUnit.SECONDS);
    }

    CompletableFuture<Long> write(long offset, ByteBuffer data) {
      return object.write(offset, data);
    }

    @Override
    public void close() {
      devices.forEach(Device::close);
    }
  }

  private static final class Raft implements AutoCloseable {
    private static final GroupId GROUP = new GroupId(7, 1);

    private final List<Node> nodes = new ArrayList<>();
    private final List<Group> groups = new ArrayList<>();
    private final Semaphore changed = new Semaphore(0);
    private @Nullable Group leader;
    private @Nullable ByteObject object;

    Raft(Path directory) throws Exception {
      for (String id : List.of("a", "b", "c")) {
        var config =
            NodeConfig.of(id, Files.createDirectories(directory.resolve(id)))
                .withAddress("127.0.0.1", 0, 0);
        nodes.add(new MicroRaft().start(config, (_, question) -> question, Reach.ALL));
      }
      List<Member> members = nodes.stream().map(Node::self).toList();
      for (int i = 0; i < 3; i++) {
        var replica = new Replica(device(directory.resolve("device" + i)));
        groups.add(nodes.get(i).host(GROUP, replica, members, new Silent(changed)));
      }
      lead();
    }

    /// Finds the member that leads, which may be another one after a pause of the machine.
    void lead() throws Exception {
      while (leader == null || !leader.leads()) {
        leader = null;
        for (Group group : groups) if (group.leads()) leader = group;
        if (leader == null) {
          var _ = changed.tryAcquire(100, TimeUnit.MILLISECONDS);
          continue;
        }
        var objects =
            ReplicatedBatchLog.open(leader.replica(), leader)
                .objects(Executors.newVirtualThreadPerTaskExecutor());
        object = Objects.requireNonNull(objects).apply(ID);
      }
    }

    CompletableFuture<Long> write(long offset, ByteBuffer data) {
      return Objects.requireNonNull(object).writeAsync(offset, data);
    }

    @Override
    public void close() {
      nodes.forEach(Node::close);
    }
  }

  private record Silent(Semaphore changed) implements Roles {
    @Override
    public void leading(long term) {
      changed.release();
    }

    @Override
    public void following() {}

    @Override
    public void leader(String leader) {}

    @Override
    public void leaderEnded() {}

    @Override
    public void caughtUp() {}

    @Override
    public void failed(Throwable cause) {}

    @Override
    public void alarm(String member, String trouble) {}
  }
}
