package stoa.store.records;

import java.util.List;
import java.util.StringJoiner;
import stoa.Deadlock;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.base.Key;

/// The refusals that several parts of a store return to their callers.
public final class KeyRefusals {
  private KeyRefusals() {}

  /// Returns the refusal of a call that names a generation of a key which has ended.
  public static Gone gone(Key key) {
    return new Gone(key.deletedText());
  }

  /// Returns the refusal of a nested call below the greatest depth.
  public static LimitExceeded tooDeep(Key caller, Key target, int depth, int depthMax) {
    return new LimitExceeded(
        caller + " calls " + target + " at a depth of " + depth + "; nestingMax is " + depthMax);
  }

  /// Returns the refusal of a call that would wait for itself.
  ///
  /// @param circle the keys, each of which waits for the next
  public static Deadlock deadlock(List<Key> circle) {
    var path = new StringJoiner(" -> ");
    circle.forEach(key -> path.add(key.toString()));
    return new Deadlock("the call would wait for itself: " + path);
  }
}
