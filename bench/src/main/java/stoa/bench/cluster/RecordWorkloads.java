package stoa.bench.cluster;

import java.util.List;

/// Workloads over [Records]. Found with `ServiceLoader`.
public interface RecordWorkloads {
  /// Returns the names of the workloads, in the order of their runs: each runs on the records that
  /// the earlier ones have left.
  List<String> names();

  /// Returns whether a workload reads records in the order of their keys.
  boolean scans(String name);

  /// The part of a record that an update replaces.
  enum Updates {
    /// One field of ten, as YCSB does without a setting.
    ONE_FIELD,
    /// All fields: an update does not depend on the record before it.
    WHOLE_RECORD
  }

  /// Prepares a workload whose updates replace one field.
  ///
  /// @param records the number of records that exist, or are loaded
  /// @param callers the number of callers
  default Prepared prepare(String name, int records, int callers) throws Exception {
    return prepare(name, records, callers, Updates.ONE_FIELD);
  }

  /// Prepares a workload.
  ///
  /// @param records the number of records that exist, or are loaded
  /// @param callers the number of callers
  Prepared prepare(String name, int records, int callers, Updates updates) throws Exception;

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
