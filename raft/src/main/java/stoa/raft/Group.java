package stoa.raft;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.log.CatchUp;
import stoa.log.Consensus;
import stoa.log.Replica;

/// One replica of a group, with its place among the members. Thread-safe.
///
/// Proposing, confirming and changing the members work at the group's leader; other replicas refuse
/// them, and [#leader] names the leader.
public interface Group extends Consensus {
  /// A member that lacks no more commands than this is level: it will have them soon, from the log.
  long LACKING_MAX = 4_096;

  /// Returns its name at all its members.
  GroupId name();

  /// Returns the replica here.
  Replica replica();

  /// Returns the leader, as far as it is known here; none when it has been silent for so long that
  /// another one may come soon.
  Optional<String> leader();

  /// Gets checkpoints from the leading member. Waits for them.
  ///
  /// @param wanted up to [CatchUp#WANTED_MAX]
  /// @param each receives each in turn, with its state; null when it does not exist, or no more
  /// @throws IOException when there is no other leader, or it cannot be reached
  void checkpoints(List<CatchUp.Wanted> wanted, BiConsumer<CatchUp.Wanted, byte @Nullable []> each)
      throws IOException;

  /// Returns whether this replica leads, and shows everything that was committed before it did.
  boolean leads();

  /// Returns whether this replica leads, and another one has answered it so recently that it may
  /// lead next.
  boolean hears(String id);

  /// Returns whether this replica leads, and has not heard a majority for half as long again as the
  /// time after which the others look for another leader.
  boolean hasLostQuorum();

  /// Ends this replica's part: something beside the log of the group has failed here. Others go on,
  /// and elect a leader if this one led. [Roles#failed] is called.
  void fail(Throwable cause);

  /// Returns whether this replica takes part.
  boolean isAlive();

  /// Returns the members of the group, as far as they are known here.
  List<Member> members();

  /// Returns how many commands each member lacks, as the group's leader knows it: more than
  /// [#LACKING_MAX] when the log no longer has them, so that the member must catch up first.
  Map<String, Long> lacking();

  /// Adds a member, which hosts the group already and has no members in it. Returns when it has all
  /// data of the group, and counts.
  ///
  /// @throws Unavailable when it could not be added
  void add(Member member);

  /// Removes a member, even the leader.
  ///
  /// @throws Unavailable when it could not be removed
  void remove(String id);

  /// Makes another member the leader.
  ///
  /// @throws Unavailable when that was not possible
  void transfer(String id);

  /// Makes this replica follow, if it leads, and ends its proposals. Returns at once.
  ///
  /// @throws Unavailable when it has ended
  void stepDown();
}
