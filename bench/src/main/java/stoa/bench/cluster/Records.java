package stoa.bench.cluster;

import java.util.Map;

/// Records of named fields under keys, as in YCSB. Thread-safe. An answered change has the
/// guarantee of its contender.
public interface Records {
  /// Inserts a record.
  void insert(String key, Map<String, byte[]> fields) throws Exception;

  /// Returns all fields of a record; none when there is no such record.
  Map<String, byte[]> read(String key) throws Exception;

  /// Replaces some fields of a record; the others stay.
  void update(String key, Map<String, byte[]> fields) throws Exception;

  /// Reads records in the order of their keys.
  ///
  /// @param from the first key
  /// @param most the most records to read
  /// @return the number of records read
  int scan(String from, int most) throws Exception;
}
