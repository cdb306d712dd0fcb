package stoa.storage.segment;

/// Receives the items of records: those of a record one after the other, then its end. It receives
/// no damaged record.
public interface ItemVisitor {
  /// Receives one item; the object is valid during the call.
  void item(Item item);

  /// Receives the end of the record of the items since the last call.
  ///
  /// @param position the log position of the record
  /// @param next the log position after it
  default void recordEnd(long position, long next) {}
}
