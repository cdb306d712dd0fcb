package stoa;

import java.util.List;

/// The content of an address of the global log: entries, a hole, a trimmed address, or an address
/// that is not yet written.
public sealed interface LogSlot {
  /// Returns the address.
  LogAddress address();

  /// The address has entries: one, or one for each stream of an atomic append.
  ///
  /// @param entries in the order of the append, without those whose stream was trimmed above them
  record Written(LogAddress address, List<StreamEntry> entries) implements LogSlot {
    public Written {
      entries = List.copyOf(entries);
    }
  }

  /// The address is settled, and will never have an entry: no batch used it, it begins an epoch, or
  /// it was never issued in its epoch.
  record Hole(LogAddress address) implements LogSlot {}

  /// The address had entries, which were released.
  record Trimmed(LogAddress address) implements LogSlot {}

  /// The address lies after the end of the log: an append may still get it.
  record NotYetWritten(LogAddress address) implements LogSlot {}
}
