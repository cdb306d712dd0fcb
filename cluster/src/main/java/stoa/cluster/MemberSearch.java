package stoa.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.Node;

/// Asks the servers of a store who the members of a group are. Thread-safe.
final class MemberSearch {
  private static final Logger LOG = LoggerFactory.getLogger(MemberSearch.class);

  // How long this server asks, in all, for the members of a group.
  private static final Duration ASKING_TIME_MAX = Duration.ofSeconds(2);

  private final String self;
  private final Node node;
  private final KnownServers servers;
  private final Function<Inquiry, byte[]> here;

  /// @param self the name of this server
  /// @param here answers an inquiry at this server
  MemberSearch(String self, Node node, KnownServers servers, Function<Inquiry, byte[]> here) {
    this.self = self;
    this.node = node;
    this.servers = servers;
    this.here = here;
  }

  /// Makes sure that this server is no longer a member of a group. Whichever server orders the
  /// deletion of its replica, it believes only the leader of the group, which has confirmed that it
  /// leads.
  ///
  /// @throws Unavailable when it is a member, or that is not known
  void requireOut(StoreProperties known, int group) {
    var inquiry = new Inquiry(group, new Inquiry.Subject.Members());
    long end = System.nanoTime() + ASKING_TIME_MAX.toNanos();
    for (Member asked : servers.inOrderOfAsking(group)) {
      Duration patience = Duration.ofNanos(end - System.nanoTime());
      if (!patience.isPositive()) break;
      Optional<Set<String>> members = members(asked, inquiry, patience);
      if (members.isEmpty()) continue;
      if (!members.get().contains(self)) return;
      throw new Unavailable(
          "server "
              + self
              + " is a member of "
              + new GroupId(known.store(), group)
              + ", and deletes nothing of it");
    }
    throw new Unavailable(
        "server "
            + self
            + " deletes nothing of group "
            + group
            + ": no server is known to lead the group that says who its members are");
  }

  private Optional<Set<String>> members(Member asked, Inquiry inquiry, Duration patience) {
    try {
      if (asked.id().equals(self)) return Inquiry.members(here.apply(inquiry));
      try (var line = node.line(asked)) {
        return Inquiry.members(line.ask(inquiry.bytes(), patience));
      }
    } catch (IOException | StoaException | IllegalArgumentException silent) {
      LOG.debug("server {} does not say who is a member", asked.id(), silent);
      return Optional.empty();
    }
  }
}
