package stoa;

/// How the calls on the objects of a type are ordered beside those on others.
public enum Order {
  /// All calls on, reads of and transactions over such objects are strictly serializable together,
  /// in the order of their log addresses. A call whose method calls other objects is one step on
  /// its own object, and each of those calls one on theirs: to see or change several at one moment,
  /// make the call in a transaction, or mark the method [Transactional].
  GLOBAL,

  /// Each object is linearizable by itself, and shares nothing with others. Such objects take no
  /// part in transactions and snapshots.
  STREAM
}
