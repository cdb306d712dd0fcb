package stoa;

import java.util.List;

/// What is at an address of the global log. That it is a hole, was trimmed, or is not yet written
/// are three different answers.
public sealed interface LogSlot {
  /// The address.
  LogAddress address();

  /// Entries are there: one, or one for each stream of an atomic append.
  ///
  /// @param entries in the order in which they were appended; of those whose stream was trimmed
  ///   above them, none
  record Written(LogAddress address, List<StreamEntry> entries) implements LogSlot {
    public Written {
      entries = List.copyOf(entries);
    }
  }

  /// The address is settled, and nothing will ever be there: it was issued in vain, begins an
  /// epoch, or was never issued in its epoch.
  record Hole(LogAddress address) implements LogSlot {}

  /// Something was there, and was released.
  record Trimmed(LogAddress address) implements LogSlot {}

  /// The address is behind the end of the log: an append may still be given it.
  record NotYetWritten(LogAddress address) implements LogSlot {}
}
