package stoa.front;

import java.util.ArrayList;
import java.util.List;
import stoa.Change;
import stoa.LogAddress;

/// The changes at a log address: those of one transaction, or one call.
///
/// @param address the log address
/// @param changes the changes, in order
public record ChangeSet(LogAddress address, List<One> changes) {
  /// A change that does not know its place among those of its transaction.
  @FunctionalInterface
  public interface One {
    /// Returns the change at a place.
    Change<?> at(int index, int size);
  }

  /// Returns the whole of what several groups have at a log address.
  public static ChangeSet joined(List<ChangeSet> parts) {
    if (parts.size() == 1) return parts.getFirst();
    var all = new ArrayList<One>();
    for (ChangeSet part : parts) all.addAll(part.changes);
    return new ChangeSet(parts.getFirst().address, all);
  }
}
