package stoa.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.log.Replica;
import stoa.raft.Reach;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.store.threads.Threads;

/// The machine that a server runs on: its devices, clock, threads and network. A test gives a
/// machine of its own, with faults. Thread-safe.
public interface Machine {
  /// Opens the storage device of a replica.
  ///
  /// @param directory names the device
  Device device(Path directory);

  /// Returns the place of the logs of replicas. A server moves a log from files to the device of
  /// its replica when it opens the replica, and never back.
  default Replica.LogPlace logs() {
    return Replica.LogPlace.DEVICE;
  }

  /// Deletes the device of a replica, if there is one.
  ///
  /// @throws Unavailable when it cannot be deleted
  void delete(Path directory);

  /// Returns the clock of the calls.
  Clock clock();

  /// Returns new threads for a store, which closes them.
  Threads threads();

  /// Returns the address at which clients find a server.
  ///
  /// @param address where the server listens, `HOST:PORT`
  String advertised(String address);

  /// Returns which of the other servers this one can talk to.
  Reach reach();

  /// Returns the machine that this process runs on.
  static Machine real() {
    return new Machine() {
      @Override
      public Device device(Path directory) {
        return Device.open(new FileDisk(directory), DeviceConfig.standard());
      }

      @Override
      public void delete(Path directory) {
        if (!Files.exists(directory)) return;
        try (var files = Files.walk(directory)) {
          for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        } catch (IOException failed) {
          throw new Unavailable(directory + " cannot be deleted: " + failed.getMessage(), failed);
        }
      }

      @Override
      public Clock clock() {
        return Clock.system();
      }

      @Override
      public Threads threads() {
        return Threads.real();
      }

      @Override
      public String advertised(String address) {
        return address;
      }

      @Override
      public Reach reach() {
        return Reach.ALL;
      }
    };
  }
}
