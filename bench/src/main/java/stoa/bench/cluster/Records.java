package stoa.bench.cluster;

import java.util.Map;

/// Records of named fields under keys, as YCSB has them. Thread-safe. What a call was answered is
/// in the state in which its contender says that changes are.
public interface Records {
  /// Begins a record.
  void insert(String key, Map<String, byte[]> fields) throws Exception;

  /// All fields of a record; none when there is no such record.
  Map<String, byte[]> read(String key) throws Exception;

  /// Replaces some fields of a record; the others stay.
  void update(String key, Map<String, byte[]> fields) throws Exception;

  /// Reads records in the order of their keys.
  ///
  /// @param from the first key
  /// @param most how many at most
  /// @return how many were read
  int scan(String from, int most) throws Exception;
}
