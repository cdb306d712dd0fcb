package stoa.raft;

import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Decides for which candidates of a group this member may vote, and whether it may stand itself:
/// no member may lead whose log ends before an entry that it had acknowledged. Thread-safe.
public final class Eligibility {
  /*
   * Raft relies on members that keep all acknowledged entries. A member whose directory was
   * restored from an older copy breaks that. It could lead without acknowledged commands, or vote
   * for a candidate that lacks them.
   *
   * (1) Before a member takes part, it asks the others for the index up to which they know it to
   *     have had the log (had). While its log ends before that, it does not stand for election, and
   *     votes only for candidates that have that much. A leader sends it the missing entries.
   * (2) A member does not vote for a candidate whose log ends before the index that the member
   *     knows the candidate to have had.
   */
  private final String self;
  private final Path directory;
  private final Acknowledged acknowledged;
  private final long had;
  private final Set<String> refused = ConcurrentHashMap.newKeySet();

  private volatile LongSupplier end = () -> -1;
  private volatile BiConsumer<String, String> alarm = (_, _) -> {};
  private volatile boolean whole;

  /// Creates it.
  ///
  /// @param self the name of this member
  /// @param directory the directory of this member's logs
  /// @param acknowledged this node's knowledge of the members
  /// @param had the index up to which others know this member to have had the log; -1 for none
  public Eligibility(String self, Path directory, Acknowledged acknowledged, long had) {
    this.self = self;
    this.directory = directory;
    this.acknowledged = acknowledged;
    this.had = had;
  }

  /// Lets the member take part from now on.
  ///
  /// @param ends returns the index of the end of its log; -1 when it is empty
  /// @param alarms receives the name of a restored member, and a description
  public void begin(LongSupplier ends, BiConsumer<String, String> alarms) {
    alarm = alarms;
    end = ends;
  }

  /// Returns what this node knows of the members.
  public Acknowledged acknowledged() {
    return acknowledged;
  }

  /// Returns whether this member has all entries that it had.
  public boolean isWhole() {
    if (!whole && end.getAsLong() >= had) whole = true;
    return whole;
  }

  /// Describes this member's trouble, while it lacks entries that it had.
  public String lack() {
    return ("its replica in %s was put back to an older copy: it had acknowledged %,d commands and has"
            + " %,d; it does not lead, and votes only for members that have them. A leader sends it"
            + " what it lacks. When there is no leader, start the servers that are down; never restore"
            + " one server from a copy: drain it, and start a new one in an empty directory")
        .formatted(directory, had + 1, end.getAsLong() + 1);
  }

  /// Returns why this member does not vote for a candidate; null when Raft decides.
  ///
  /// @param last the index of the end of the candidate's log; -1 when it is empty
  public @Nullable String refusal(String candidate, long last) {
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
