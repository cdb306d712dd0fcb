package stoa.bench.ycsb;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import stoa.bench.cluster.Records;
import stoa.bench.remote.RemoteContender;

/// A store of records that the benchmark of YCSB measures.
///
/// Implementations keep no state of their own; the caller owns the servers that they start.
public interface YcsbContender {
  /// The contenders of a run.
  enum Forms {
    /// All of them.
    ALL,
    /// One of each kind, with each change on a disk before the answer; of other products, those
    /// that start soon.
    DURABLE,
    /// One server of each product, with each change on its disk before the answer.
    ONE_SERVER
  }

  /// Stores of other products. Found with `ServiceLoader`.
  interface Others {
    /// Returns those of a run.
    List<YcsbContender> contenders(Forms forms);
  }

  /// Returns its name in tables.
  String name();

  /// Returns the guarantee of an answered change, and the settings that matter, in a line.
  String guarantee();

  /// Returns how it reads the records after a key, in a line.
  String scan();

  /// Returns how many copies of the records it keeps on this machine.
  int copies();

  /// Returns whether a call of it does what one of this engine on as many servers does: it goes
  /// over a network, and a change is on disks before the answer.
  boolean isComparable();

  /// Starts its servers, each in a process of its own, on the loopback device, and connects a
  /// client.
  ///
  /// @param folder an empty folder for the data
  /// @param heap the options of Java of each server
  /// @throws RemoteContender.Missing when it cannot run on this machine
  Running start(Path folder, List<String> heap) throws Exception;

  /// A running store, and a client of it. Thread-safe, except for [#close()].
  interface Running extends AutoCloseable {
    /// Returns the records as a caller has them, from 0.
    Records records(int caller);

    /// Returns the processor time that the servers' processes have used so far.
    Duration processorTime();

    /// Closes the client and ends the servers' processes.
    @Override
    void close() throws IOException;
  }
}
