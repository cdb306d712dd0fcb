package stoa.stacksync;

import java.util.SequencedMap;

/// The owner of a workspace, whose quota bounds what its items hold.
public interface Purse {
  /// Charges the differences in size that a commit would make, one item after the other, each if
  /// there is room for it.
  ///
  /// @param differences bytes by item, in the order of the request
  Charge charge(SequencedMap<Long, Long> differences);

  /// Counts items that left a workspace of this user (a negative difference), or came back to it.
  /// The user cannot refuse returning items.
  void adjust(long differenceBytes);
}
