package stoa.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.base.Name;
import stoa.base.Secret;
import stoa.node.Peers;
import stoa.raft.Member;
import stoa.store.replicas.FollowerWork;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;

/// The servers of the store, as one server shows them to its clients and operators, and the changes
/// that operators ask for. Thread-safe.
final class ClusterPeers implements Peers {
  // How long this server believes its last news of the leaders.
  private static final Duration AGE_MAX = Duration.ofSeconds(5);

  private final ClusterServer server;
  private final KnownServers servers;
  private final ConcurrentSkipListMap<Integer, HostedGroup> hosted;
  private final List<Leader> leaders;

  /// @param hosted the groups of which this server has a replica
  /// @param leaders of all groups
  ClusterPeers(
      ClusterServer server,
      KnownServers servers,
      ConcurrentSkipListMap<Integer, HostedGroup> hosted,
      List<Leader> leaders) {
    this.server = server;
    this.servers = servers;
    this.hosted = hosted;
    this.leaders = leaders;
  }

  @Override
  public int groups() {
    StoreProperties known = server.knownProperties();
    return known == null ? 0 : known.groups();
  }

  @Override
  public int replicas() {
    StoreProperties known = server.knownProperties();
    return known == null ? 0 : known.replicas();
  }

  @Override
  public List<String> servers() {
    ClusterView known = servers.view();
    var addresses = new LinkedHashSet<String>();
    if (known != null) {
      for (ClusterView.Listed listed : known.servers()) addresses.add(listed.member().clients());
    } else {
      for (HostedGroup group : hosted.values()) {
        for (Member member : group.members()) addresses.add(member.clients());
      }
    }
    return List.copyOf(addresses);
  }

  @Override
  public CompletableFuture<String> leader(int group) {
    if (group >= 0 && group < leaders.size()) return leaders.get(group).ask();
    return CompletableFuture.failedFuture(
        new IllegalArgumentException("there is no group " + group));
  }

  @Override
  public Duration age() {
    return servers.age();
  }

  @Override
  public List<ServerStatus> status() {
    ClusterView known = servers.view();
    ClusterView shown = known != null ? known : remembered();
    Set<Integer> givenBack = givenBack(shown);
    return shown.servers().stream().map(listed -> status(shown, listed, givenBack)).toList();
  }

  /// Returns the groups whose leaders are log units and give the leadership back.
  private Set<Integer> givenBack(ClusterView known) {
    StoreProperties properties = server.knownProperties();
    if (properties == null) return Set.of();
    Facts facts = facts(known, properties);
    return known.groups().keySet().stream()
        .filter(group -> ReplicaPlan.givesBack(facts, group))
        .collect(Collectors.toUnmodifiableSet());
  }

  /// Returns what a server without news since its start knows: the members of its groups.
  private ClusterView remembered() {
    var members = new ArrayList<ClusterView.Listed>();
    for (Member member : servers.all()) {
      boolean here = member.id().equals(server.name());
      var presence = here ? Facts.Presence.HERE : Facts.Presence.AWAY;
      members.add(new ClusterView.Listed(member, presence, false));
    }
    var groups = new TreeMap<Integer, ClusterView.Placed>();
    hosted.forEach((number, group) -> {
      var behind = new TreeMap<String, Long>();
      for (Member member : group.members()) behind.put(member.id(), 0L);
      var none = Optional.<String>empty();
      groups.put(number, new ClusterView.Placed(none, behind, new TreeSet<>()));
    });
    return new ClusterView(members, groups, Optional.empty());
  }

  /// Returns what a view tells. It does not tell which members are level, so all count as such.
  private static Facts facts(ClusterView known, StoreProperties properties) {
    var hosts = new TreeMap<String, Facts.Server>();
    for (ClusterView.Listed listed : known.servers()) {
      String name = listed.member().id();
      var hosted = new TreeSet<Integer>();
      var failed = new TreeSet<Integer>();
      known
          .groups()
          .forEach((number, group) -> {
            if (group.behind().containsKey(name)) hosted.add(number);
            if (group.failed().contains(name)) failed.add(number);
          });
      hosts.put(
          name, new Facts.Server(listed.presence(), listed.drains(), hosted, failed, Set.of()));
    }
    var groups = new TreeMap<Integer, Facts.Group>();
    known
        .groups()
        .forEach((number, group) -> {
          NavigableSet<String> members = group.behind().navigableKeySet();
          groups.put(number, new Facts.Group(group.leader(), members, members, members, false));
        });
    return new Facts(properties.members(), properties.replicas(), hosts, groups);
  }

  private ServerStatus status(
      ClusterView known, ClusterView.Listed listed, Set<Integer> givenBack) {
    Member member = listed.member();
    var status =
        ServerStatus.newBuilder()
            .setServer(member.id())
            .setClientAddress(member.clients())
            .setPeerAddress(member.host() + ":" + member.port())
            .setState(listed.drains() ? "drains" : presence(listed.presence()));
    known
        .groups()
        .forEach((number, group) -> {
          Optional<String> move = move(known, number, member.id());
          Long behind = group.behind().get(member.id());
          if (behind == null && move.isEmpty()) return;
          String leader = leading(number, group).orElse(null);
          boolean executes =
              server
                  .storeProperties()
                  .executes(member.id(), number, List.copyOf(group.behind().keySet()), leader);
          status.addGroups(
              compared(number, member.id())
                  .setLogUnit(!executes)
                  .setGroup(number)
                  .setLeads(member.id().equals(leader))
                  .setGivesBack(
                      givenBack.contains(number)
                          && group.leader().filter(member.id()::equals).isPresent())
                  .setFailed(group.failed().contains(member.id()))
                  .setBehind(behind == null ? 0 : behind)
                  .setMove(move.orElse("")));
        });
    return status.build();
  }

  /// Returns the leader of a group. A member of the group knows it before others hear of it, or
  /// while none do.
  private Optional<String> leading(int group, ClusterView.Placed told) {
    HostedGroup here = hosted.get(group);
    if (here == null || !here.knowsLeader()) {
      return age().compareTo(AGE_MAX) > 0 ? Optional.empty() : told.leader();
    }
    if (here.led().isPresent()) return Optional.of(server.name());
    return Optional.ofNullable(here.leading()).map(Member::id);
  }

  /// Returns how far this server itself has compared a group's objects with their leader's.
  private MemberStatus.Builder compared(int group, String name) {
    var status = MemberStatus.newBuilder();
    HostedGroup here = name.equals(server.name()) ? hosted.get(group) : null;
    FollowerWork.Progress progress = here == null ? null : here.progress();
    if (progress == null) return status;
    return status.setCompared(progress.compared()).setDiffered(progress.diverged());
  }

  private static String presence(Facts.Presence presence) {
    return switch (presence) {
      case HERE -> "";
      case AWAY -> "away";
      case LOST -> "lost";
    };
  }

  private static Optional<String> move(ClusterView known, int group, String server) {
    return known
        .step()
        .flatMap(step ->
            switch (step) {
              case Step.Host(String to, int in) when in == group && to.equals(server) ->
                  Optional.of("joins");
              case Step.Add(String to, int in) when in == group && to.equals(server) ->
                  Optional.of("joins");
              case Step.Remove(String from, int in) when in == group && from.equals(server) ->
                  Optional.of("leaves");
              case Step.Transfer(String to, int in) when in == group && to.equals(server) ->
                  Optional.of("takes over");
              default -> Optional.empty();
            });
  }

  @Override
  public List<String> alarms() {
    ClusterView known = servers.view();
    return known == null ? List.of() : known.alarms();
  }

  @Override
  public @Nullable Secret secret() {
    return server.secret();
  }

  @Override
  public void join(String name, String written) {
    Member joining = Member.of(written);
    Name.checked("a server", joining.id());
    if (!joining.id().equals(name)) {
      throw new IllegalArgumentException("server " + name + " says that it is " + joining);
    }
    server.mover().join(joining);
  }

  @Override
  public void drain(String name) {
    server.mover().drain(name);
    server.awaitGone(name);
  }

  @Override
  public void setReplicas(int number) {
    server.mover().setReplicas(number);
  }
}
