package stoa.sim.scenario;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;
import stoa.storage.replication.DeviceReplica;
import stoa.storage.replication.Fenced;
import stoa.storage.replication.ReplicatedObject;
import stoa.storage.replication.WriteReplica;

/// One object on three devices whose primaries write in any order: messages are lost, delayed,
/// reordered and doubled, devices lose power, primaries are replaced while the earlier ones go on.
/// Nothing acknowledged may be lost, and in the end all replicas are the same.
final class AnyOrderScenario implements Scenario {
  private static final int STEPS = 300;
  private static final int NODES = 3;
  private static final int ROOM = 200;
  private static final int COUNTER_BITS = 36;
  private static final StreamId ID = new StreamId(0, 7);

  @Override
  public String name() {
    return "any-order";
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    var run = new Run(chance.of("work"), trace);
    try {
      run.run();
    } finally {
      for (var node : run.nodes) node.device.close();
    }
  }

  /// A message was lost.
  private static final class Lost extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private static final class Node {
    SimulatedDisk disk;
    Device device;
    @Nullable DeviceReplica replica; // null while it is down

    Node(SimulatedDisk disk) {
      this.disk = disk;
      this.device = opened(disk);
      this.replica = new DeviceReplica(device, ID);
    }

    private static Device opened(SimulatedDisk disk) {
      return Device.open(disk, new DeviceConfig(8 << 10, 2 << 10, 4 << 10, 4 << 10), Runnable::run);
    }

    void end(boolean power) {
      disk = power ? disk.crash() : disk.kill();
      device.close();
      replica = null;
    }

    void restart() {
      if (replica != null) return;
      disk.losePowerAfter(Integer.MAX_VALUE / 2);
      device = opened(disk);
      replica = new DeviceReplica(device, ID);
    }
  }

  /// Bytes of a version.
  private record Write(int offset, byte[] bytes) {
    boolean covers(int at) {
      return offset <= at && at < offset + bytes.length;
    }
  }

  private static final class Primary {
    final long epoch;
    final ReplicatedObject object;
    long given;
    boolean open;

    Primary(long epoch, ReplicatedObject object) {
      this.epoch = epoch;
      this.object = object;
      this.given = epoch << COUNTER_BITS;
    }
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Runnable> network = new ArrayList<>();
    private final List<Primary> primaries = new ArrayList<>();
    private final NavigableMap<Long, Write> writes = new TreeMap<>();
    private final TreeSet<Long> acknowledged = new TreeSet<>();
    private final int losses;
    private boolean calm;
    // The failure that an action of a future has found.
    private @Nullable AssertionError broken;

    Run(Chance chance, Trace trace) {
      this.chance = chance;
      this.trace = trace;
      losses = chance.of(List.of(0, 5, 20, 40));
      for (int i = 0; i < NODES; i++) nodes.add(new Node(new SimulatedDisk(chance.any())));
    }

    void run() {
      takeOver();
      for (int i = 0; i < STEPS; i++) step();
      calm = true;
      for (var node : nodes) {
        node.end(false); // those that have failed, too
        node.restart();
      }
      deliverAll();
      takeOver();
      deliverAll();
      var last = primaries.getLast();
      if (!last.open) throw new AssertionError("the last primary does not open");
      write(last);
      deliverAll();
      var whole = last.object.repair();
      deliverAll();
      if (whole.join() != NODES) throw new AssertionError(whole.join() + " replicas are whole");
      requireSame();
      read(last);
      deliverAll();
    }

    private void step() {
      var current = primaries.getLast();
      int what = chance.below(100);
      trace.add("step " + what);
      if (what < 25) write(current);
      else if (what < 65) deliver(1 + chance.below(6));
      else if (what < 72) read(current);
      else if (what < 78) current.object.resend();
      else if (what < 82) repair(current);
      else if (what < 86) takeOver();
      else if (what < 89) write(chance.of(primaries)); // it may have been replaced
      else if (what < 92) chance.of(nodes).disk.losePowerAfter(chance.below(60));
      else if (what < 95) fail(chance.of(nodes));
      else restart(chance.of(nodes));
    }

    private void fail(Node node) {
      if (node.replica == null) return;
      trace.reached("a device fails");
      node.end(chance.percent(60));
    }

    private void restart(Node node) {
      try {
        if (node.replica != null) node.end(true); // it may have lost its power
        node.restart();
      } catch (StorageException e) {
        trace.add("fails while it opens");
      }
    }

    private void deliver(int count) {
      for (int i = 0; i < count && !network.isEmpty(); i++) {
        int at = chance.below(network.size());
        if (at > 0) trace.reached("messages are reordered");
        network.remove(at).run();
        if (broken != null) throw broken;
      }
    }

    private void deliverAll() {
      while (!network.isEmpty()) deliver(1);
    }

    private boolean isLost() {
      return !calm && chance.percent(losses);
    }

    /// Sends a request to a node and its answer back.
    private <T extends @Nullable Object> CompletableFuture<T> send(
        Node node, Function<WriteReplica, CompletableFuture<T>> request) {
      var answer = new CompletableFuture<T>();
      int copies = !calm && chance.percent(10) ? 2 : 1;
      for (int i = 0; i < copies; i++) {
        network.add(() -> {
          var replica = node.replica;
          if (replica == null || isLost()) {
            trace.reached("a message is lost");
            answer.completeExceptionally(new Lost());
            return;
          }
          var _ =
              ask(replica, request)
                  .whenComplete((value, failure) ->
                      network.add(() -> {
                        if (isLost()) answer.completeExceptionally(new Lost());
                        else if (failure != null) answer.completeExceptionally(failure);
                        else answer.complete(value);
                      }));
        });
      }
      return answer;
    }

    private static <T extends @Nullable Object> CompletableFuture<T> ask(
        WriteReplica replica, Function<WriteReplica, CompletableFuture<T>> request) {
      try {
        return request.apply(replica);
      } catch (RuntimeException failed) {
        return CompletableFuture.failedFuture(failed);
      }
    }

    private WriteReplica link(Node node) {
      return new WriteReplica() {
        @Override
        public CompletableFuture<VersionState> promise(long epoch) {
          return send(node, replica -> replica.promise(epoch));
        }

        @Override
        public CompletableFuture<Void> write(
            long epoch, long version, long offset, ByteBuffer data) {
          return send(node, replica -> replica.write(epoch, version, offset, data.duplicate()));
        }

        @Override
        public CompletableFuture<VersionState> versions() {
          return send(node, WriteReplica::versions);
        }

        @Override
        public CompletableFuture<byte[]> updates(VersionState have) {
          return send(node, replica -> replica.updates(have));
        }

        @Override
        public CompletableFuture<Void> apply(byte[] updates) {
          return send(node, replica -> replica.apply(updates));
        }

        @Override
        public CompletableFuture<Void> read(long offset, ByteBuffer target) {
          return send(node, replica -> replica.read(offset, target.duplicate()));
        }
      };
    }

    private void takeOver() {
      var before = primaries.isEmpty() ? null : primaries.getLast();
      Primary next = before;
      if (before == null || before.open) {
        long epoch = before == null ? 1 : before.epoch + 1;
        next =
            new Primary(
                epoch, new ReplicatedObject(nodes.stream().map(this::link).toList(), epoch));
        primaries.add(next);
      }
      var opening = Objects.requireNonNull(next);
      var _ =
          opening
              .object
              .open()
              .whenComplete((_, failure) -> {
                if (failure != null) return;
                opening.open = true;
                trace.reached("a primary takes over");
              });
    }

    private void write(Primary primary) {
      if (!primary.open) return;
      byte[] bytes = new byte[1 + chance.below(40)];
      for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (1 + chance.below(255));
      var write = new Write(chance.below(ROOM - bytes.length), bytes);
      long version = primary.given + 1;
      CompletableFuture<Long> done;
      try {
        done = primary.object.write(write.offset, ByteBuffer.wrap(bytes));
      } catch (Fenced e) {
        trace.reached("an earlier primary is refused");
        return;
      }
      primary.given = version;
      writes.put(version, write);
      var _ =
          done.whenComplete((given, failure) -> {
            if (failure != null) return;
            if (given != version) broken = new AssertionError(given + " is not " + version);
            acknowledged.add(version);
            if (primary != primaries.getLast()) trace.reached("an earlier primary acknowledges");
          });
    }

    private void repair(Primary primary) {
      if (!primary.open) return;
      var _ =
          primary
              .object
              .repair()
              .whenComplete((count, failure) -> {
                if (failure == null && count == NODES) trace.reached("replicas are repaired");
              });
    }

    private void read(Primary primary) {
      if (!primary.open) return;
      var target = new byte[ROOM];
      var certain = new TreeSet<>(acknowledged);
      CompletableFuture<Void> done;
      try {
        done = primary.object.read(0, ByteBuffer.wrap(target));
      } catch (Fenced e) {
        return;
      }
      var _ =
          done.whenComplete((_, failure) -> {
            if (failure != null || primary != primaries.getLast()) return;
            trace.reached("bytes are read");
            for (int i = 0; i < ROOM; i++) {
              if (!isRight(i, target[i], certain)) {
                broken = new AssertionError("byte %d of %s".formatted(i, certain));
              }
            }
          });
    }

    /// Returns whether a byte is that of the highest certain version, or of a higher one.
    private boolean isRight(int at, byte seen, Set<Long> certain) {
      for (var write : writes.descendingMap().entrySet()) {
        if (!write.getValue().covers(at)) continue;
        if (write.getValue().bytes[at - write.getValue().offset] == seen) return true;
        if (certain.contains(write.getKey())) return false;
      }
      return seen == 0;
    }

    private void requireSame() {
      var first = nodes.getFirst().device.object(ID);
      var state = first.versionState();
      for (long version : acknowledged) {
        if (!state.contains(version)) throw new AssertionError("version " + version + " is lost");
      }
      var expected = new byte[ROOM];
      for (VersionRange range : state.ranges()) {
        for (long version = range.first(); version <= range.last(); version++) {
          var write = Objects.requireNonNull(writes.get(version), "an unknown version");
          System.arraycopy(write.bytes, 0, expected, write.offset, write.bytes.length);
        }
      }
      for (var node : nodes) {
        var object = node.device.object(ID);
        if (!object.versionState().equals(state)) {
          throw new AssertionError(object.versionState() + " is not " + state);
        }
        if (!object.history().equals(first.history())) throw new AssertionError("other history");
        if (!Arrays.equals(expected, object.read(0, ROOM))) throw new AssertionError("other bytes");
      }
      trace.add("versions " + state);
      if (state.missing().size() > primaries.size()) trace.reached("versions are missing for good");
    }
  }
}
