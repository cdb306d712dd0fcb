package stoa.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// Decides, from facts, the next step towards the right places of all replicas and leaders.
///
/// It remembers nothing: another caller, after a crash of the first, continues what was begun. It
/// reads no clock and starts no thread; the same facts give the same step.
final class ReplicaPlan {
  /*
   * A group should have as many members as there are replicas, on servers that stay, and fewer when
   * there are fewer such servers. No server should have two replicas, or lead two groups, more than
   * another. Present replicas stay as far as that allows: a new server only gains, and a leaving
   * one only gives. Where there is a choice, the highest weight of server and group decides
   * (rendezvous hashing), so every caller chooses the same, and a server that went and came back
   * gets its former groups.
   *
   * A failed replica counts as one of a lost server: others get its place where there are enough of
   * them. Its remains stay until its server is started again or drained, so that the server gets
   * nothing meanwhile. A removed replica stops by itself: it is deleted before its server gets the
   * group again.
   *
   * The order of steps:
   * (1) nothing, while the members or the leader of some group are changing: there is one move at a
   *     time
   * (2) servers that drain hand over their leaderships
   * (3) surplus members are removed, which ends moves and drains servers
   * (4) groups get missing members
   * (5) a server with two replicas more than another gives one: the other one is added, and (3)
   *     removes it
   * (6) drained servers are dismissed
   * (7) leaderships are spread
   * (8) a log unit that leads gives the leadership back to a member that executes, where that
   *     leaves the leaderships even
   * (9) replicas of servers that are no members are deleted
   *
   * No step takes from a group what it can lose and go on: see `safe`. A server that is away for a
   * short time neither gains nor loses anything.
   */
  private final Facts facts;

  private ReplicaPlan(Facts facts) {
    this.facts = facts;
  }

  /// Returns the next step; empty when everything is in its place, or nothing can be done at
  /// present.
  static Optional<Step> next(Facts facts) {
    return Optional.ofNullable(new ReplicaPlan(facts).step());
  }

  /// Returns the weight of a server for a group.
  static long weight(String server, int group) {
    return StreamId.of(server + "/" + group).high();
  }

  /// Returns how many servers have a greater weight for a group than one.
  static long heavier(String server, int group, Collection<String> servers) {
    long weight = weight(server, group);
    return servers.stream().filter(other -> weight(other, group) > weight).count();
  }

  /// Returns whether a log unit leads a group, and gives the leadership to a member that executes
  /// as soon as that member has been level for a while.
  static boolean givesBack(Facts facts, int group) {
    var plan = new ReplicaPlan(facts);
    return plan.heir(group, plan.group(group).members()).isPresent();
  }

  private @Nullable Step step() {
    if (facts.groups().values().stream().anyMatch(Facts.Group::changes)) return null;
    for (int group : facts.groups().keySet()) {
      Step step = relieve(group);
      if (step != null) return step;
    }
    for (int group : facts.groups().keySet()) {
      Step step = shrink(group);
      if (step != null) return step;
    }
    for (int group : facts.groups().keySet()) {
      Step step = grow(group);
      if (step != null) return step;
    }
    Step step = balance();
    if (step == null) step = dismiss();
    if (step == null) step = spread();
    if (step == null) step = giveBack();
    return step != null ? step : release();
  }

  private Facts.Group group(int number) {
    Facts.Group group = facts.groups().get(number);
    if (group == null) throw new IllegalArgumentException("there is no group " + number);
    return group;
  }

  /// Returns how many members a group should have.
  private int target() {
    long staying = facts.servers().values().stream().filter(Facts.Server::stays).count();
    return (int) Math.min(facts.replicas(), staying);
  }

  /// Returns whether a server's replica of a group, present or future, is to stay.
  private boolean stays(int group, String name) {
    Facts.Server server = facts.server(name);
    return server.stays() && !server.failed().contains(group) && !server.out().contains(group);
  }

  private long staying(int number) {
    return group(number).members().stream().filter(member -> stays(number, member)).count();
  }

  // ---- what a group can lose

  /// Returns how many of a group's members can fail while it goes on; negative when it does not go
  /// on.
  private static int spare(NavigableSet<String> members, NavigableSet<String> level) {
    int majority = members.size() / 2 + 1;
    return (int) level.stream().filter(members::contains).count() - majority;
  }

  /// Returns whether a group with other members can lose as many as now, or as a whole one could.
  private boolean safe(
      Facts.Group group, NavigableSet<String> members, NavigableSet<String> level) {
    int whole = target() - (target() / 2 + 1);
    int now = spare(group.members(), group.level());
    return now >= 0 && spare(members, level) >= Math.min(now, whole);
  }

  private boolean mayAdd(int number, String server) {
    Facts.Group group = group(number);
    if (group.leader().isEmpty()) return false;
    return safe(group, with(group.members(), server), with(group.level(), server));
  }

  private boolean mayRemove(Facts.Group group, String server) {
    return safe(group, without(group.members(), server), without(group.level(), server));
  }

  private static NavigableSet<String> with(NavigableSet<String> names, String name) {
    var more = new TreeSet<>(names);
    more.add(name);
    return more;
  }

  private static NavigableSet<String> without(NavigableSet<String> names, String name) {
    var fewer = new TreeSet<>(names);
    fewer.remove(name);
    return fewer;
  }

  // ---- members

  private @Nullable Step relieve(int number) {
    Facts.Group group = group(number);
    boolean drains = group.leader().filter(leader -> facts.server(leader).drains()).isPresent();
    return drains ? transfer(number, group) : null;
  }

  /// Returns a transfer to the member that leads least, of those that stay members.
  private @Nullable Step transfer(int number, Facts.Group group) {
    return group.level().stream()
        .filter(member -> facts.server(member).stays())
        .filter(member -> group.leader().filter(member::equals).isEmpty())
        .min(Comparator.comparingInt(facts::leads).thenComparing(heaviest(number)))
        .map(member -> new Step.Transfer(member, number))
        .orElse(null);
  }

  private static Comparator<String> heaviest(int group) {
    return Comparator.comparingLong((String server) -> weight(server, group)).reversed();
  }

  private @Nullable Step shrink(int number) {
    Facts.Group group = group(number);
    if (group.leader().isEmpty()) return null;
    for (String surplus : surplus(number, group)) {
      if (!mayRemove(group, surplus)) continue;
      boolean leads = group.leader().filter(surplus::equals).isPresent();
      Step step = leads ? transfer(number, group) : new Step.Remove(surplus, number);
      if (step != null) return step;
    }
    return null;
  }

  /// Returns the members of which a group must lose one.
  private List<String> surplus(int number, Facts.Group group) {
    long staying = staying(number);
    if (group.members().size() > staying) {
      // A draining server leaves the group when enough others have a replica, or no other server
      // could get one. A lost or failed server may come back, so it leaves only when another server
      // has taken its place.
      return group.members().stream()
          .filter(name -> !stays(number, name))
          .filter(name -> staying >= (facts.server(name).drains() ? target() : facts.replicas()))
          .toList();
    }
    if (staying <= facts.replicas()) return List.of();
    return group.members().stream()
        .max(Comparator.comparingInt(facts::load).thenComparing(heaviest(number)))
        .filter(name -> facts.server(name).isHere())
        .stream()
        .toList();
  }

  private @Nullable Step grow(int number) {
    if (staying(number) >= target()) return null;
    return candidates()
        .filter(name -> !group(number).members().contains(name))
        .filter(name -> stays(number, name) && mayAdd(number, name))
        .min(
            Comparator.comparing((String name) -> !hosts(name, number))
                .thenComparingInt(facts::load)
                .thenComparing(heaviest(number)))
        .map(name -> add(name, number))
        .orElse(null);
  }

  private Stream<String> candidates() {
    return facts.servers().entrySet().stream()
        .filter(server -> server.getValue().isHere() && server.getValue().stays())
        .map(Map.Entry::getKey);
  }

  private boolean hosts(String server, int group) {
    return facts.server(server).hosts().contains(group);
  }

  private Step add(String server, int group) {
    return hosts(server, group) ? new Step.Add(server, group) : new Step.Host(server, group);
  }

  private @Nullable Step balance() {
    // Until repairs and draining are done, loads say little.
    for (var group : facts.groups().entrySet()) {
      if (group.getValue().members().size() != target()) return null;
      if (staying(group.getKey()) != target()) return null;
    }
    List<String> here = candidates().toList();
    Comparator<Give> order =
        Comparator.comparing((Give give) -> !hosts(give.to, give.group))
            .thenComparingInt(give -> -facts.load(give.from))
            .thenComparingInt(give -> facts.load(give.to))
            .thenComparingLong(give -> -weight(give.to, give.group) / 2)
            .thenComparingInt(Give::group);
    var gives = new ArrayList<Give>();
    for (String from : here) {
      for (String to : here) {
        if (facts.load(from) < facts.load(to) + 2) continue;
        for (var group : facts.groups().entrySet()) {
          var members = group.getValue().members();
          if (!members.contains(from) || members.contains(to)) continue;
          if (stays(group.getKey(), to) && mayAdd(group.getKey(), to))
            gives.add(new Give(from, to, group.getKey()));
        }
      }
    }
    return gives.stream().min(order).map(give -> add(give.to, give.group)).orElse(null);
  }

  /// A possible move of a replica of a group from one server to another.
  private record Give(String from, String to, int group) {}

  // ---- remains

  private @Nullable Step release() {
    for (var server : facts.servers().entrySet()) {
      if (!server.getValue().isHere()) continue;
      for (int number : new TreeSet<>(server.getValue().hosts())) {
        Facts.Group group = facts.groups().get(number);
        if (group == null || group.leader().isEmpty()) continue;
        if (group.members().contains(server.getKey())) continue;
        if (server.getValue().stays() && server.getValue().failed().contains(number)) continue;
        return new Step.Release(server.getKey(), number);
      }
    }
    return null;
  }

  private @Nullable Step dismiss() {
    if (facts.groups().values().stream().anyMatch(group -> group.leader().isEmpty())) return null;
    for (var server : facts.servers().entrySet()) {
      String name = server.getKey();
      if (!server.getValue().drains() || facts.load(name) > 0) continue;
      if (server.getValue().isHere() && !server.getValue().hosts().isEmpty()) continue;
      return new Step.Dismiss(name);
    }
    return null;
  }

  // ---- leaders

  /// Moves one leadership from a server with too many, through others if necessary, to one with too
  /// few. The last move of these comes first, so no server leads more than before.
  private @Nullable Step spread() {
    List<String> busiest =
        candidates()
            .sorted(Comparator.comparingInt(facts::leads).reversed().thenComparing(name -> name))
            .toList();
    for (String from : busiest) {
      Step step = spread(from);
      if (step != null) return step;
    }
    return null;
  }

  private @Nullable Step spread(String from) {
    var arrived = new HashMap<String, Step.Transfer>(); // by which transfer each is reached
    var next = new ArrayDeque<String>(List.of(from));
    while (!next.isEmpty()) {
      String at = next.remove();
      if (facts.leads(at) + 2 <= facts.leads(from)) return arrived.get(at);
      var byLoss = new TreeMap<Integer, List<Step.Transfer>>();
      for (var group : facts.groups().entrySet()) {
        if (group.getValue().leader().filter(at::equals).isEmpty()) continue;
        group.getValue().level().stream()
            .filter(member -> !member.equals(from) && isFit(member))
            .sorted(heaviest(group.getKey()))
            .map(member -> new Step.Transfer(member, group.getKey()))
            .forEach(possible ->
                byLoss.computeIfAbsent(loss(at, possible), _ -> new ArrayList<>()).add(possible));
      }
      for (List<Step.Transfer> alike : byLoss.values()) {
        for (Step.Transfer transfer : alike) {
          if (arrived.putIfAbsent(transfer.server(), transfer) == null) next.add(transfer.server());
        }
      }
    }
    return null;
  }

  private boolean isFit(String name) {
    return facts.server(name).isHere() && facts.server(name).stays();
  }

  /// Returns 1 for a transfer to a log unit from a member that executes, -1 for the reverse, and 0
  /// for any other.
  private int loss(String from, Step.Transfer transfer) {
    int before = facts.executes(from, transfer.group()) ? 1 : 0;
    return before - (facts.executes(transfer.server(), transfer.group()) ? 1 : 0);
  }

  /// Moves a leadership from a log unit, which got it when the leader failed, to a member that
  /// executes. Nothing moves while a member that is there still catches up.
  private @Nullable Step giveBack() {
    for (var entry : facts.groups().entrySet()) {
      int number = entry.getKey();
      if (isCatchingUp(number)) continue;
      Optional<String> to = heir(number, entry.getValue().steady());
      if (to.isPresent()) return new Step.Transfer(to.get(), number);
    }
    return null;
  }

  /// Returns which of some members gets the leadership of a group back from a log unit; empty when
  /// no log unit leads the group, or none of the members executes and leads fewer groups.
  private Optional<String> heir(int number, NavigableSet<String> among) {
    String leader = group(number).leader().orElse(null);
    if (leader == null || facts.executes(leader, number)) return Optional.empty();
    return among.stream()
        .filter(member -> facts.server(member).isHere() && stays(number, member))
        .filter(member -> facts.executes(member, number))
        .filter(member -> facts.leads(member) < facts.leads(leader))
        .min(Comparator.comparingInt(facts::leads).thenComparing(heaviest(number)));
  }

  private boolean isCatchingUp(int number) {
    Facts.Group group = group(number);
    return group.members().stream()
        .filter(member -> facts.server(member).isHere() && stays(number, member))
        .anyMatch(member -> !group.level().contains(member));
  }
}
