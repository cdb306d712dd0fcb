package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;

/// The answer of [User#charge].
///
/// @param refused the items for which there was no room
/// @param quota what it is now
public record Charge(List<Long> refused, Quota quota) {
  /// Charges a quota for differences in size, one item after the other, each if there is room for
  /// it.
  static Charge of(Quota before, SequencedMap<Long, Long> differences) {
    var refused = new ArrayList<Long>();
    var quota = before;
    for (var difference : differences.entrySet()) {
      if (quota.allows(difference.getValue())) quota = quota.plus(difference.getValue());
      else refused.add(difference.getKey());
    }
    return new Charge(refused, quota);
  }
}
