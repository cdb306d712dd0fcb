package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.log.CatchUp;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicatedBatchLog;
import stoa.log.Supply;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectSnapshot;
import stoa.store.threads.Threads;

/// A store whose replicas are in this process: the first leads, others follow at once, or are
/// brought level. Commands have the order in which they come, and none is lost.
final class Replicas implements Consensus {
  private static final int DISK_BYTES = 256 << 20;
  private static final int COMMAND_BYTES_MAX = 16 << 20;
  private static final DeviceConfig SMALL = new DeviceConfig(1 << 20, 64 << 10, 64 << 10, 64 << 10);

  private final List<MemoryDisk> disks = new ArrayList<>();
  private final List<byte[]> commands = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();
  private List<Replica> replicas = List.of();
  private List<Device> devices = List.of();
  private @Nullable Supply early;
  private int earlyAt = Integer.MAX_VALUE;

  Replicas(int count, int diskBytes) {
    for (int i = 0; i < count; i++) disks.add(new MemoryDisk(diskBytes));
  }

  Replicas() {
    this(2, DISK_BYTES);
  }

  /// Begins to tell another replica what it lacks when so many commands are there; goes on at the
  /// end.
  void beginEarly(int commandCount) {
    earlyAt = commandCount;
  }

  /// Opens the store where another replica is the first than before, after a restart of all of
  /// them, to which commands are given again that may have been applied before.
  Stoa open(StoaConfig config) {
    close();
    disks.add(disks.removeFirst());
    devices = disks.stream().map(disk -> Device.open(disk, SMALL)).toList();
    replicas = devices.stream().map(Replica::new).toList();
    for (Replica replica : replicas) follow(replica);
    return EmbeddedEngine.openReplicated(
        config,
        devices.getFirst(),
        () -> ReplicatedBatchLog.open(replicas.getFirst(), this),
        Clock.system(),
        Threads.real(),
        Part.WHOLE);
  }

  private void follow(Replica replica) {
    while (replica.applied().index() < commands.size()) {
      int index = (int) replica.applied().index() + 1;
      replica.apply(new Position(1, index), commands.get(index - 1));
    }
  }

  @Override
  public Result propose(byte[] command) {
    lock.lock();
    try {
      commands.add(command);
      byte[] answer = {};
      for (Replica replica : replicas.reversed()) {
        answer = replica.apply(new Position(1, commands.size()), command);
      }
      if (commands.size() == earlyAt) early = replicas.getFirst().supply();
      return new Result.Applied(answer);
    } catch (RuntimeException failed) {
      return new Result.Unknown(failed);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void confirm() {}

  @Override
  public int commandBytesMax() {
    return COMMAND_BYTES_MAX;
  }

  /// Checks that all replicas have the same objects, and that others that are brought level come to
  /// these: one that has nothing, and one that began early and gets the later commands after the
  /// objects.
  void verify() throws IOException {
    if (replicas.isEmpty()) return;
    Device first = devices.getFirst();
    for (Device other : devices) assertSame(first, other);
    try (var supply = replicas.getFirst().supply()) {
      assertLevel(first, supply);
    }
    if (early != null) assertLevel(first, early);
  }

  private void assertLevel(Device first, Supply supply) throws IOException {
    try (var replica = new Replica(Device.open(new MemoryDisk(DISK_BYTES), SMALL))) {
      Device device = level(replica, supply);
      follow(replica);
      assertSame(first, device);
    }
  }

  private static Device level(Replica replica, Supply supply) throws IOException {
    CatchUp.run(
        replica,
        question -> {
          var answer = new ByteArrayOutputStream();
          supply.answer(question, answer);
          return new ByteArrayInputStream(answer.toByteArray());
        });
    return replica.device();
  }

  /// How many objects there are.
  int objects() {
    return objects(devices.getFirst()).size();
  }

  private static List<StreamId> objects(Device device) {
    List<StreamId> ids = new ArrayList<>();
    device.objects(null, ids::add);
    return ids;
  }

  private static void assertSame(Device one, Device other) {
    assertEquals(objects(one), objects(other));
    for (StreamId id : objects(one)) {
      assertSame(one.object(id), other.object(id));
      List<ObjectSnapshot> kept = one.object(id).snapshots();
      List<ObjectSnapshot> same = other.object(id).snapshots();
      assertEquals(
          kept.stream().map(ObjectSnapshot::number).toList(),
          same.stream().map(ObjectSnapshot::number).toList());
      for (int i = 0; i < kept.size(); i++) assertSame(kept.get(i), same.get(i));
    }
  }

  private static void assertSame(ObjectReader one, ObjectReader other) {
    assertEquals(one.versionState(), other.versionState());
    assertEquals(one.history(), other.history());
    assertEquals(one.attributes().keySet(), other.attributes().keySet());
    one.attributes()
        .forEach((name, value) -> assertArrayEquals(value, other.attributes().get(name)));
    one.history(
        0,
        Long.MAX_VALUE,
        extent -> {
          if (extent.content() != ObjectReader.Content.DATA) return true;
          int length = Math.toIntExact(extent.length());
          assertArrayEquals(one.read(extent.offset(), length), other.read(extent.offset(), length));
          return true;
        });
  }

  /// Closes the replicas; what they have stays.
  void close() {
    if (early != null) early.close();
    early = null;
    replicas.forEach(Replica::close);
    replicas = List.of();
    devices = List.of();
  }
}
