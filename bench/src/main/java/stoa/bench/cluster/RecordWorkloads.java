package stoa.bench.cluster;

import java.util.List;

/// Workloads over [Records]. Found with `ServiceLoader`.
public interface RecordWorkloads {
  /// Returns the names of the workloads, in the order of their runs: each runs on the records that
  /// the earlier ones have left.
  List<String> names();

  /// Returns whether a workload reads records in the order of their keys.
  boolean scans(String name);

  /// Prepares a workload.
  ///
  /// @param records the number of records that exist, or are loaded
  /// @param callers the number of callers
  Prepared prepare(String name, int records, int callers) throws Exception;

  /// A prepared workload. Thread-safe.
  interface Prepared {
    /// Inserts the next of the initial records.
    void load(Records records) throws Exception;

    /// Takes a turn of a caller, from 0.
    ///
    /// @throws IllegalStateException when the turn failed
    void turn(int caller, Records records) throws Exception;
  }
}
