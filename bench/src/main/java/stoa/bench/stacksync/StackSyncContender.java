package stoa.bench.stacksync;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import stoa.bench.remote.RemoteContender;
import stoa.stacksync.SyncService;

/// A store with the service on it. Implementations keep no state of their own; the caller owns what
/// they start.
public interface StackSyncContender {
  /// Returns its name in tables and figures.
  String name();

  /// Returns the fate of an answered commit after a power failure, in a few words.
  String durability();

  /// Starts the servers, each in a process of its own, and connects a client.
  ///
  /// @param folder an empty folder for the servers' data
  /// @throws RemoteContender.Missing when it cannot run on this machine
  Running start(Path folder) throws Exception;

  /// Running servers, and a client of them. Thread-safe, except for [#close()].
  interface Running extends AutoCloseable {
    /// Returns the service as one of several callers sees it.
    ///
    /// @param caller the number of the caller; one thread uses it at a time
    SyncService service(int caller) throws Exception;

    /// Returns the processor time that the servers' processes have used so far.
    Duration processorTime();

    /// Closes the client and ends the servers.
    @Override
    void close() throws IOException;
  }

  /// Contenders of another product, found with `ServiceLoader`.
  interface Others {
    /// Returns them, in the order of the tables.
    ///
    /// @param all whether all forms are asked for; otherwise the main one, to show that it runs
    List<StackSyncContender> contenders(boolean all);
  }
}
