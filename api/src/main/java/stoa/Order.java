package stoa;

/// How the calls on the objects of a type are ordered beside those on others.
public enum Order {
  /// All calls on, reads of and transactions over such objects are strictly serializable together,
  /// in the order of their log addresses.
  GLOBAL,

  /// Each object is linearizable by itself, and shares nothing with others. Such objects take no
  /// part in transactions and snapshots.
  STREAM
}
