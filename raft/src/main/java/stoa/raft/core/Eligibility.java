package stoa.raft.core;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import stoa.raft.Acknowledged;
import stoa.raft.Member;

/// Decides whether this member may stand for election, and for which candidates it may vote, by
/// what the nodes know that members had: no member may lead whose log ends before an entry that it
/// had acknowledged. Thread-safe.
public final class Eligibility implements Votes {
  /*
   * Raft relies on members that keep all acknowledged entries. A member whose directory was
   * restored from an older copy breaks that. It could lead without acknowledged commands, or vote
   * for a candidate that lacks them.
   *
   * (1) Before a member takes part, it asks the others for the index up to which they know it to
   *     have had the log (had). While its log ends before that, it does not stand for election, and
   *     votes only for candidates that have that much. A leader sends it the missing entries.
   * (2) A member does not vote for a candidate whose log ends before the index that the member
   *     knows the candidate to have had: the core sees to it.
   *
   * Indices are counted from 0 here, and from 1 in Votes.
   */
  private final Path directory;
  private final Acknowledged acknowledged;
  private final long had;

  private volatile LongSupplier end = () -> -1;
  private volatile Runnable noted = () -> {};
  private volatile boolean whole;

  /// Creates it.
  ///
  /// @param directory the directory of this member's logs
  /// @param acknowledged this node's knowledge of the members
  /// @param had the index up to which others know this member to have had the log; -1 for none
  public Eligibility(Path directory, Acknowledged acknowledged, long had) {
    this.directory = directory;
    this.acknowledged = acknowledged;
    this.had = had;
  }

  /// Lets the member take part from now on.
  ///
  /// @param ends returns the index of the end of its log; -1 when it is empty
  /// @param notes runs after each note of what members had
  public void begin(LongSupplier ends, Runnable notes) {
    noted = notes;
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

  @Override
  public boolean mayStand() {
    return isWhole();
  }

  @Override
  public boolean mayVote(long last) {
    return last - 1 >= had || isWhole();
  }

  @Override
  public long had(String member) {
    return acknowledged.of(member) + 1;
  }

  @Override
  public void had(List<Member> members, Map<String, Long> indices) {
    var counted = new TreeMap<String, Long>();
    indices.forEach((id, index) -> counted.put(id, index - 1));
    acknowledged.note(members, counted);
    noted.run();
  }
}
