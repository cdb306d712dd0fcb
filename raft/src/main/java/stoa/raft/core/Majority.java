package stoa.raft.core;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Lets a leader of an even number of members count a majority. One owner: the core.
///
/// With an even number of members, from four on, MicroRaft commits an entry when half of the
/// members have it, because only a majority can elect a leader. This is wrong while a change of
/// members is not committed. For instance, of b, c, d and e, the leader d commits an entry that it
/// shares with c alone. The log of e has the removal of d. So b and e are a majority, and elect e
/// without the entry.
final class Majority {
  /*
   * `had` has the index up to which each other member has the log. `told` has the index that this
   * class has reported to MicroRaft for the member: never more than a majority has. So MicroRaft
   * still counts half of the members, but a majority has every entry that it commits.
   *
   * This class holds back the first answer to a question, for the same reason.
   */
  private static final int HELD_MAX = 16;

  private final Map<String, Long> had = new HashMap<>();
  private final Map<String, Long> told = new HashMap<>();
  private long question;
  private @Nullable String first;
  private int held;

  /// Begins anew, with a leadership.
  void clear() {
    had.clear();
    told.clear();
    question = 0;
    first = null;
  }

  /// Returns whether there is anything to do for a number of members.
  static boolean concerns(int members) {
    return members >= 4 && members % 2 == 0;
  }

  /// Records up to where a member has the log.
  void has(String member, long index) {
    had.merge(member, index, Math::max);
  }

  /// Forgets what a member had.
  void forget(String member) {
    had.remove(member);
    told.remove(member);
  }

  /// Records an index that is reported to MicroRaft for a member.
  void tell(String member, long index) {
    told.merge(member, index, Math::max);
  }

  /// Returns what MicroRaft knows of a member.
  long told(String member) {
    return told.getOrDefault(member, 0L);
  }

  /// Returns what MicroRaft may know of a member.
  ///
  /// @param others the other voting members
  /// @param own up to where the leader has the log durably
  long mayTell(String member, Collection<String> others, long own) {
    return Math.min(had.getOrDefault(member, 0L), common(others, own));
  }

  /// Returns up to where a majority has the log.
  private long common(Collection<String> others, long own) {
    long[] indices = new long[others.size() + 1];
    int i = 0;
    for (String other : others) indices[i++] = had.getOrDefault(other, 0L);
    indices[i] = own;
    Arrays.sort(indices);
    return indices[(indices.length - 1) / 2];
  }

  /// Returns whether the answer of a member to a question is the one that is held back.
  boolean holdsBack(String member, long answered) {
    if (answered == 0) return false;
    if (answered > question) {
      question = answered;
      first = member;
      held = 0;
    }
    if (answered != question || !member.equals(first)) return false;
    held++;
    return true;
  }

  /// Returns whether the member whose answer is held back may be asked again at once, as MicroRaft
  /// does when it gets an answer to something else.
  boolean mayAskAgain() {
    return held < HELD_MAX;
  }
}
