package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// Several servers that keep one state together, and their client, that the cluster benchmark
/// measures.
///
/// Found with `ServiceLoader`. Implementations keep no state of their own; what they start belongs
/// to the caller.
public interface ClusterContender {
  /// What it is called in tables.
  String name();

  /// What holds of a change that was answered, in a line.
  String guarantee();

  /// Starts servers, each in a process of its own, on the loopback device, and connects a client.
  ///
  /// @param folder an empty folder for the servers' data
  Running start(Path folder, int servers) throws Exception;

  /// Servers that run, and a client of them. Thread-safe, but for [#close()].
  interface Running extends AutoCloseable {
    /// The processor time that the servers' processes have used so far.
    Duration processorTime();

    /// Its counters, of one or more kinds, by the name of the kind in tables.
    Map<String, Counters> counters();

    /// Its records; empty where it has none.
    default Optional<Records> records() {
      return Optional.empty();
    }

    /// Records that can be read in order; empty where it has none.
    default Optional<Records> orderedRecords() {
      return Optional.empty();
    }

    /// Closes the client and ends the servers' processes.
    @Override
    void close() throws IOException;
  }

  /// Numbered counters, 0 at first. Thread-safe. A call returns when the servers have answered.
  interface Counters {
    /// Adds one to a counter and returns its new value.
    long increment(int counter) throws Exception;

    /// What a counter is at, after all that was answered before.
    long value(int counter) throws Exception;
  }
}
