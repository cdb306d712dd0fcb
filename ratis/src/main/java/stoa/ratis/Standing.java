package stoa.ratis;

import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Decides for which candidates of a group this member may vote, and whether it may stand itself:
/// no member leads whose log ends before what it had acknowledged. Thread-safe.
final class Standing {
  /*
   * Raft relies on members that keep what they have acknowledged. A member whose directory was put
   * back to an older copy breaks that. It could lead without acknowledged commands, or vote for a
   * candidate that lacks them.
   *
   * (1) Before a member takes part, it asks the others up to where they know it to have had the log
   *     (had). While its log ends before that, it does not stand for election, and votes only for
   *     candidates that have that much. A leader sends it what it lacks.
   * (2) A member does not vote for a candidate whose log ends before what the member knows the
   *     candidate to have had.
   */
  private final String self;
  private final Path directory;
  private final Acknowledged acknowledged;
  private final long had;
  private final Set<String> refused = ConcurrentHashMap.newKeySet();

  private volatile LongSupplier end = () -> -1;
  private volatile BiConsumer<String, String> alarm = (_, _) -> {};
  private volatile boolean whole;

  /// @param self the name of this member
  /// @param directory where this member keeps its logs
  /// @param acknowledged what is known here of the members
  /// @param had the index up to which others know this member to have had the log; -1 for none
  Standing(String self, Path directory, Acknowledged acknowledged, long had) {
    this.self = self;
    this.directory = directory;
    this.acknowledged = acknowledged;
    this.had = had;
  }

  /// The member takes part from now on.
  ///
  /// @param ends answers the index with which its log ends; -1 when it is empty
  /// @param alarms is told which member was put back, in words
  void begin(LongSupplier ends, BiConsumer<String, String> alarms) {
    alarm = alarms;
    end = ends;
  }

  Acknowledged acknowledged() {
    return acknowledged;
  }

  /// Returns whether this member has all that it had.
  boolean isWhole() {
    if (!whole && end.getAsLong() >= had) whole = true;
    return whole;
  }

  /// What is wrong with this member, while it lacks what it had.
  String lack() {
    return ("its replica in %s was put back to an older copy: it had acknowledged %,d commands and has"
            + " %,d; it does not lead, and votes only for members that have them. A leader sends it"
            + " what it lacks. When there is no leader, start the servers that are down; never restore"
            + " one server from a copy: drain it, and start a new one in an empty directory")
        .formatted(directory, had + 1, end.getAsLong() + 1);
  }

  /// Why this member does not vote for a candidate; null when Ratis is to decide.
  ///
  /// @param last the index with which the candidate's log ends; -1 when it is empty
  @Nullable String refusal(String candidate, long last) {
    long known = acknowledged.of(candidate);
    if (last < known) {
      String trouble =
          ("its replica was put back to an older copy: it had acknowledged %,d commands and stands for"
                  + " election with %,d; server %s does not vote for it")
              .formatted(known + 1, last + 1, self);
      if (refused.add(candidate)) alarm.accept(candidate, trouble);
      return trouble;
    }
    refused.remove(candidate);
    if (last >= had || isWhole()) return null;
    return "server %s had acknowledged %,d commands, which the candidate has not"
        .formatted(self, had + 1);
  }
}
