package stoa.sim.world;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import stoa.base.StreamId;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;
import stoa.storage.object.WriteTransaction;

/// A device with versioned objects on a disk that fails, beside the model of its correct contents.
///
/// One owner.
public final class VersionedNode implements AutoCloseable {
  /*
   * The log keeps the order of the operations, and a power loss keeps a beginning of the entries
   * that are not durable. So after a failure the device has every operation that returned, and of
   * the others, in the order of their beginnings, the first few: `unknown` are those.
   */
  private static final int ATTEMPTS_MAX = 50;

  private final Chance chance;
  private final Trace trace;
  private final DeviceConfig config;
  private final Tasks tasks = new Tasks();
  public final List<OpenWrite> open = new ArrayList<>();
  private final List<DeviceModel.Effect> unknown = new ArrayList<>();
  private DeviceModel model = new DeviceModel();
  private SimulatedDisk disk;
  private Device device;
  private boolean calm;
  // Whether syncs fail in this life.
  private boolean syncFails;

  /// The failures of the disk.
  public enum Trouble {
    NONE,
    FAILURES
  }

  /// A transaction that has not ended.
  public static final class OpenWrite {
    public final StreamId id;
    public final VersionedChange change;
    public final WriteTransaction transaction;
    public int partsWritten;
    public boolean broken; // writing a part failed
    public boolean orphan; // its object was deleted

    public OpenWrite(StreamId id, VersionedChange change, WriteTransaction transaction) {
      this.id = id;
      this.change = change;
      this.transaction = transaction;
    }
  }

  /// An operation on the device.
  @FunctionalInterface
  public interface Action {
    /// Does it and returns whether it changed anything.
    public boolean run() throws IOException;
  }

  /// Runs the device's tasks in the thread that submits them, or keeps them until a release.
  private static final class Tasks implements Executor {
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private boolean held;

    @Override
    public void execute(Runnable task) {
      if (held) waiting.add(task);
      else task.run();
    }

    void release() {
      held = false;
      while (true) {
        var task = waiting.poll();
        if (task == null) return;
        task.run();
      }
    }
  }

  public VersionedNode(Chance chance, Trace trace, Trouble trouble) {
    this.chance = chance;
    this.trace = trace;
    this.calm = trouble == Trouble.NONE;
    this.config =
        new DeviceConfig(
            4096 << chance.below(4),
            chance.percent(50) ? 0 : 2048 << chance.below(3),
            4096 << chance.below(3),
            4096 << chance.below(4));
    disk = new SimulatedDisk(chance.any());
    if (chance.percent(20)) disk.readShort();
    device = Device.open(disk, config, tasks);
    arm();
  }

  private void arm() {
    if (calm) return;
    syncFails = false;
    switch (chance.below(8)) {
      case 0 -> {
        syncFails = true;
        disk.failSync(chance.below(80));
      }
      case 1 -> disk.failWrite(chance.below(120));
      case 2, 3, 4 -> disk.losePowerAfter(chance.below(300));
      case 5 -> disk.losePowerAfter(chance.below(30));
      default -> {
        // A life without failure.
      }
    }
  }

  public Device device() {
    return device;
  }

  public DeviceModel model() {
    return model;
  }

  /// Leaves little room on the disk, until the disk is full the next time.
  public void fill() {
    disk.limit(disk.bytes() + chance.below(6000));
  }

  /// Limits the room on the disk, until [#unbound] or the next life of the device. Returns the most
  /// bytes of the disk.
  public long bound(long bytes) {
    long most = disk.bytes() + bytes;
    disk.limit(most);
    return most;
  }

  public void unbound() {
    disk.limit(Long.MAX_VALUE);
  }

  /// Lets operations wait for each other until [#release].
  public void hold() {
    tasks.held = true;
  }

  public void release() {
    tasks.release();
  }

  /// Runs an operation, and applies its effect to the model. Returns whether it was done.
  ///
  /// @throws StorageException when the device must be opened again
  public boolean run(Action action, DeviceModel.Effect effect) throws IOException {
    boolean done = runInRoom(action, effect);
    if (!done) full();
    return done;
  }

  /// Runs like [#run], but makes no room when the disk is full.
  public boolean runInRoom(Action action, DeviceModel.Effect effect) throws IOException {
    boolean changed;
    try {
      changed = action.run();
    } catch (DiskFull e) {
      return false;
    } catch (DeviceFailed | ReadFailed e) {
      unknown.add(effect);
      throw e;
    }
    done(changed, effect);
    return true;
  }

  /// Applies an effect to the model.
  public void done(boolean changed, DeviceModel.Effect effect) {
    if (effect.on(model) != changed) {
      throw new AssertionError(
          "an operation answered " + changed + " and had to answer " + !changed);
    }
  }

  /// Notes an effect with an unknown outcome.
  public void unknown(DeviceModel.Effect effect) {
    unknown.add(effect);
  }

  /// Makes room again.
  public void full() {
    trace.reached("the disk is full");
    trace.add("full");
    disk.limit(Long.MAX_VALUE);
  }

  /// Compares all that the device shows with the model.
  public void require() {
    model.require(device, chance);
  }

  /// Closes the device and opens it again, from its log alone if it must lose the index.
  public void reopen(Index index) throws IOException {
    device.close();
    end(index);
  }

  /// The fate of the index between two lives of a device.
  public enum Index {
    KEPT,
    LOST
  }

  /// Ends the process, with or without a power loss, and opens the device again.
  public void fail(Index index) throws IOException {
    readWhatIsLeft();
    // The data of a failed sync may be readable until the power is lost, and nothing shows it.
    if (!syncFails && isOn() && chance.percent(40)) {
      disk = disk.kill();
      trace.reached("a process is killed");
    } else {
      disk = disk.crash();
      trace.reached("the power is lost");
    }
    device.close();
    arm();
    end(index);
  }

  /// Reads a failed device, as far as the disk can: without the data that is not durable.
  private void readWhatIsLeft() {
    if (unknown.isEmpty()) return;
    try {
      settle(false);
      trace.reached("a failed device is read");
    } catch (StorageException e) {
      trace.add("unreadable " + e.getClass().getSimpleName());
    }
  }

  private boolean isOn() {
    try {
      return disk.list() != null;
    } catch (IOException e) {
      return false;
    }
  }

  private void end(Index index) throws IOException {
    open.clear();
    tasks.waiting.clear();
    tasks.held = false;
    for (int attempt = 0; ; attempt++) {
      if (attempt == ATTEMPTS_MAX) calm();
      try {
        if (index == Index.LOST) loseIndex();
        device = Device.open(disk, config, tasks);
        settle(true);
        return;
      } catch (DiskFull e) {
        full();
      } catch (IOException | DeviceFailed | ReadFailed e) {
        trace.reached("the disk fails while the device opens");
        trace.add("fails while it opens");
        device.close();
        disk = disk.crash();
        arm();
      }
    }
  }

  private void loseIndex() throws IOException {
    for (var name : disk.list()) {
      if (name.equals("manifest") || name.startsWith("run-")) disk.delete(name);
    }
    trace.reached("the index is lost");
  }

  /// Finds out which of the unknown operations happened.
  private void settle(boolean forGood) {
    AssertionError first = null;
    for (int count = unknown.size(); count >= 0; count--) {
      var candidate = model.copy();
      for (int i = 0; i < count; i++) unknown.get(i).on(candidate);
      try {
        candidate.require(device, chance);
      } catch (AssertionError e) {
        if (first == null) first = e;
        else first.addSuppressed(e);
        continue;
      }
      if (!unknown.isEmpty()) {
        trace.reached(count > 0 ? "an unknown outcome is a success" : "an unknown outcome is none");
      }
      if (forGood) {
        model = candidate;
        trace.add("settled " + count + " of " + unknown.size());
        unknown.clear();
      }
      return;
    }
    if (first != null) throw first;
  }

  /// Stops the failures of the disk.
  public void calm() {
    calm = true;
    disk.losePowerAfter(Integer.MAX_VALUE / 2);
    disk.failSync(Integer.MAX_VALUE / 2);
    disk.failWrite(Integer.MAX_VALUE / 2);
    disk.limit(Long.MAX_VALUE);
  }

  @Override
  public void close() {
    device.close();
  }
}
