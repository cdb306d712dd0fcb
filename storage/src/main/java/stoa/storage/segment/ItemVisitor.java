package stoa.storage.segment;

/// Receives the items of records: those of a record one after the other, then its end. A record of
/// which anything is not as it was written is not visited at all.
public interface ItemVisitor {
  /// One item; the object is the visitor's during the call.
  void item(Item item);

  /// The end of the record whose items came since the last call.
  ///
  /// @param position the log position of the record
  /// @param next the log position behind it
  default void recordEnd(long position, long next) {}
}
