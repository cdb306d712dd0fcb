package stoa.bench.cluster;

import java.util.List;

/// Workloads over [Records]. Found with `ServiceLoader`.
public interface RecordWorkloads {
  /// What they are called, in the order in which they run: each on the records that the ones before
  /// have left.
  List<String> names();

  /// Returns whether a workload reads records in the order of their keys.
  boolean scans(String name);

  /// Prepares one.
  ///
  /// @param records how many there are, or are loaded
  /// @param callers how many take its turns
  Prepared prepare(String name, int records, int callers) throws Exception;

  /// A workload that is ready. Thread-safe.
  interface Prepared {
    /// Inserts the next of the records that are there at the beginning.
    void load(Records records) throws Exception;

    /// Takes a turn of a caller, from 0.
    ///
    /// @throws IllegalStateException when the turn failed
    void turn(int caller, Records records) throws Exception;
  }
}
