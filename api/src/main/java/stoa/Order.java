package stoa;

/// How the calls on the objects of a type are ordered beside those on others.
public enum Order {
  /// All calls on, reads of and transactions over such objects are strictly serializable together,
  /// in the order of their log addresses. An accessor that asks other such objects sees all of them
  /// at one moment.
  ///
  /// A call that is not an accessor and whose method calls other objects is one step on its own
  /// object, and each of those calls one on theirs, in the order in which they are made. Between
  /// two of them others may change what the second sees, also by a transaction over both: to see or
  /// change several objects at one moment, make the call in a transaction, or mark the method
  /// [Transactional].
  GLOBAL,

  /// Each object is linearizable by itself, and shares nothing with others. Such objects take no
  /// part in transactions and snapshots. An accessor of a [#GLOBAL] object that asks one sees it as
  /// it is then.
  STREAM
}
