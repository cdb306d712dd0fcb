package stoa.test;

import java.nio.file.Path;
import stoa.base.Clock;
import stoa.cluster.Machine;
import stoa.raft.Reach;
import stoa.storage.Device;
import stoa.store.threads.Threads;

/// The machine of one of several servers of a test. Thread-safe.
///
/// @param disk has the devices of its replicas
/// @param time its clock
/// @param front where clients find it
/// @param reach which of the other servers it can talk to
record TestMachine(StoaDisk disk, StoaClock time, Front front, Reach reach) implements Machine {
  @Override
  public Device device(Path directory) {
    return disk.open(name(directory));
  }

  @Override
  public void delete(Path directory) {
    disk.delete(name(directory));
  }

  private static String name(Path directory) {
    return String.valueOf(directory.getFileName());
  }

  @Override
  public Clock clock() {
    return time.clock();
  }

  @Override
  public Threads threads() {
    return time.threads();
  }

  @Override
  public String advertised(String address) {
    return front.address();
  }
}
