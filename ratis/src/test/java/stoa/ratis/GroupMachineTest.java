package stoa.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.SizeInBytes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.raft.Member;
import stoa.raft.Roles;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;

class GroupMachineTest {
  private static final DeviceConfig SMALL =
      new DeviceConfig(1 << 20, 64 << 10, 256 << 10, 256 << 10);

  private static final class Nothing implements GroupMachine.CatchUp {
    @Override
    public void from(Member leader, BooleanSupplier still) {
      throw new AssertionError(leader);
    }

    @Override
    public void leave(@Nullable String leader) {}
  }

  private static Roles telling(List<Throwable> told) {
    return new Roles() {
      @Override
      public void alarm(String member, String trouble) {
        throw new AssertionError(member + " is in trouble: " + trouble);
      }

      @Override
      public void leading(long term) {}

      @Override
      public void following() {}

      @Override
      public void leader(String leader) {}

      @Override
      public void caughtUp() {}

      @Override
      public void failed(Throwable cause) {
        told.add(cause);
      }
    };
  }

  private static GroupMachine machine(Replica replica, ExecutorService background) {
    return new GroupMachine(
        replica, telling(new ArrayList<>()), Runnable::run, background, new Nothing());
  }

  @Test
  void whatFailsWhileItsNodeIsClosedThrowsNothingIntoRatis() {
    var background = Executors.newVirtualThreadPerTaskExecutor();
    background.shutdown();
    List<Throwable> told = new ArrayList<>();
    var failure = new IOException("no space");
    try (var replica = new Replica(Device.open(new SimulatedDisk(1), SMALL))) {
      var machine =
          new GroupMachine(replica, telling(told), Runnable::run, background, new Nothing());
      machine.notifyLogFailed(failure, null);
      machine.notifyLogFailed(failure, null);
    }
    assertEquals(List.of(failure), told);
  }

  /// A server that is asked nothing but for its name.
  private static RaftServer server() {
    var types = new Class<?>[] {RaftServer.class};
    return (RaftServer)
        Proxy.newProxyInstance(RaftServer.class.getClassLoader(), types, (_, _, _) -> null);
  }

  /// The machine does not count entries of a catch-up as entries of Raft's log, since that would
  /// leave a gap in the log. It counts them when the log and its earlier entries have gone.
  @Test
  void isNotAheadOfRatisWhenItIsOpenedAgain(@TempDir Path directory) throws IOException {
    var group = RatisNode.id(RatisShard.GROUP);
    var disk = new SimulatedDisk(2);
    try (var background = Executors.newVirtualThreadPerTaskExecutor();
        var storage =
            RaftStorage.newBuilder()
                .setDirectory(directory.toFile())
                .setOption(RaftStorage.StartupOption.FORMAT)
                .setStorageFreeSpaceMin(SizeInBytes.ONE_KB)
                .build()) {
      storage.initialize();
      var log = storage.getStorageDir().getCurrentDir().toPath().resolve("log_inprogress_0");
      Files.write(log, new byte[] {1});
      try (var replica = new Replica(Device.open(disk, SMALL))) {
        for (int i = 1; i <= 9; i++) replica.apply(new Position(1, i), Replica.nothing());
        replica.sync();
        replica.know(new Position(1, 4));
      }
      try (var replica = new Replica(Device.open(disk, SMALL))) {
        assertEquals(9, replica.applied().index());
        var machine = machine(replica, background);
        machine.initialize(server(), group, storage);
        assertEquals(TermIndex.valueOf(1, 3), machine.getLatestSnapshot().getTermIndex());
        machine.notifyTermIndexUpdated(1, 4);
        assertEquals(4, machine.takeSnapshot());
        assertEquals(new Position(1, 5), replica.known());
        for (int i = 5; i < 9; i++) machine.notifyTermIndexUpdated(1, i);
        assertEquals(8, machine.takeSnapshot());
        assertNull(replica.known(), "Ratis has all of it");
        replica.know(new Position(1, 4));
      }
      Files.delete(log);
      try (var replica = new Replica(Device.open(disk, SMALL))) {
        var machine = machine(replica, background);
        machine.initialize(server(), group, storage);
        assertEquals(TermIndex.valueOf(1, 8), machine.getLatestSnapshot().getTermIndex());
      }
    }
  }
}
