package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// Several servers that keep one state together, and their client, that the cluster benchmark
/// measures.
///
/// Found with `ServiceLoader`. Implementations keep no state of their own; the caller owns the
/// servers that they start.
public interface ClusterContender {
  /// Returns its name in tables.
  String name();

  /// Returns the guarantee of an answered change, in a line.
  String guarantee();

  /// Starts servers, each in a process of its own, on the loopback device, and connects a client.
  ///
  /// @param folder an empty folder for the servers' data
  Running start(Path folder, int servers) throws Exception;

  /// Running servers, and a client of them. Thread-safe, except for [#close()].
  interface Running extends AutoCloseable {
    /// Returns the processor time that the servers' processes have used so far.
    Duration processorTime();

    /// Returns its counters, of one or more kinds, by the name of the kind in tables.
    Map<String, Counters> counters();

    /// Returns its records; empty where it has none.
    default Optional<Records> records() {
      return Optional.empty();
    }

    /// Returns records that are readable in order; empty where it has none.
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

    /// Returns the value of a counter, after all calls answered before.
    long value(int counter) throws Exception;
  }
}
