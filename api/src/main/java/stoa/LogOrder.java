package stoa;

/// How calls on the objects of a type are ordered relative to calls on others.
public enum LogOrder {
  /// All calls on, reads of and transactions over such objects are strictly serializable together,
  /// in the order of their log addresses. An accessor that asks other such objects sees all of them
  /// at one moment.
  ///
  /// A call that is not an accessor and whose method calls other objects is one step on its own
  /// object, and each of those calls is one step on theirs, in the order of the calls. Between two
  /// steps other callers may change what the second one sees, also by a transaction over both. To
  /// see or change several objects at one moment, make the call in a transaction, or mark the
  /// method [Transactional].
  GLOBAL,

  /// Each object is linearizable by itself, without an order relative to others. Such objects take
  /// no part in transactions and snapshots. An accessor of a [#GLOBAL] object that asks one sees
  /// its present.
  STREAM
}
