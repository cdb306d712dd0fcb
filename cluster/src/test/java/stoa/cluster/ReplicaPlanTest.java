package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.cluster.Facts.Presence;
import stoa.sim.Chance;

/// The placement in a world of servers and groups without processes: what it decides is done, or
/// fails, and meanwhile servers come, go and fail.
class ReplicaPlanTest {
  private static final int STEPS_MAX = 500;

  private static final class Host {
    Presence presence = Presence.HERE;
    boolean drains;
    final Set<Integer> hosts = new TreeSet<>();
    final Set<Integer> failed = new TreeSet<>();
    final Set<Integer> out = new TreeSet<>();

    /// Whether what it is to host fails at once.
    boolean breaks;
  }

  private static final class Group {
    @Nullable String leader;
    final NavigableSet<String> members = new TreeSet<>();
    final NavigableSet<String> lagging = new TreeSet<>();

    /// Those that are level, and have not been for a while.
    final NavigableSet<String> fresh = new TreeSet<>();

    /// The change that is under way.
    @Nullable Step step;
  }

  private static final class World {
    int replicas;
    int executing;
    final TreeMap<String, Host> servers = new TreeMap<>();
    final TreeMap<Integer, Group> groups = new TreeMap<>();

    // The servers that got a replica, or lost one, with the groups.
    final List<String> got = new ArrayList<>();

    final List<String> lost = new ArrayList<>();

    World(int replicas, int groups, int servers) {
      this.replicas = replicas;
      executing = replicas;
      for (int i = 0; i < servers; i++) this.servers.put("s" + i, new Host());
      for (int i = 0; i < groups; i++) {
        var group = new Group();
        group.leader = "s0";
        group.members.add("s0");
        this.groups.put(i, group);
        host("s0").hosts.add(i);
      }
    }

    Host host(String name) {
      Host host = servers.get(name);
      if (host == null) throw new AssertionError("there is no server " + name);
      return host;
    }

    Group group(int number) {
      Group group = groups.get(number);
      if (group == null) throw new AssertionError("there is no group " + number);
      return group;
    }

    boolean isHere(String name) {
      Host host = servers.get(name);
      return host != null && host.presence == Presence.HERE;
    }

    boolean isWell(String name, Group group) {
      return isHere(name) && host(name).failed.stream().noneMatch(failed -> group(failed) == group);
    }

    boolean stays(String name, Group group) {
      Host host = host(name);
      return !host.drains
          && host.presence != Presence.LOST
          && host.failed.stream().noneMatch(failed -> group(failed) == group);
    }

    NavigableSet<String> level(Group group) {
      var level = new TreeSet<String>();
      for (String name : group.members) {
        if (isWell(name, group) && !group.lagging.contains(name)) level.add(name);
      }
      return level;
    }

    NavigableSet<String> steady(Group group) {
      var steady = new TreeSet<>(level(group));
      steady.removeAll(group.fresh);
      return steady;
    }

    /// Returns the leaders by the groups' numbers.
    Map<Integer, String> leaders() {
      var leaders = new TreeMap<Integer, String>();
      groups.forEach((number, group) -> leaders.put(number, String.valueOf(group.leader)));
      return leaders;
    }

    Facts facts() {
      var hosts = new TreeMap<String, Facts.Server>();
      servers.forEach((name, host) ->
          hosts.put(
              name,
              new Facts.Server(
                  host.presence,
                  host.drains,
                  Set.copyOf(host.hosts),
                  Set.copyOf(host.failed),
                  Set.copyOf(host.out))));
      var all = new TreeMap<Integer, Facts.Group>();
      groups.forEach((number, group) ->
          all.put(
              number,
              new Facts.Group(
                  Optional.ofNullable(group.leader),
                  new TreeSet<>(group.members),
                  level(group),
                  steady(group),
                  group.step != null)));
      return new Facts(replicas, executing, hosts, all);
    }

    int spare(Group group) {
      return level(group).size() - (group.members.size() / 2 + 1);
    }

    int target() {
      long staying =
          servers.values().stream()
              .filter(host -> !host.drains && host.presence != Presence.LOST)
              .count();
      return (int) Math.min(replicas, staying);
    }

    /// Looks that a group can lose as many as before when a change of it is done.
    void requireSafe(Group group, Step step, String added, String removed) {
      int before = spare(group);
      int whole = target() - (target() / 2 + 1);
      var after = new Group();
      after.members.addAll(group.members);
      after.members.add(added);
      after.members.remove(removed);
      after.lagging.addAll(group.lagging);
      after.lagging.remove(added);
      assertTrue(before >= 0 && group.leader != null, step::toString);
      assertTrue(
          spare(after) >= Math.min(before, whole),
          () -> step + " lowers what the group can lose: " + group.members);
    }

    /// Begins a step, after looking that it may be.
    void begin(Step step) {
      assertTrue(groups.values().stream().allMatch(group -> group.step == null), "one move");
      switch (step) {
        case Step.Host(String server, int number) -> {
          assertTrue(isHere(server) && !host(server).drains, step::toString);
          assertFalse(host(server).hosts.contains(number), step::toString);
          host(server).hosts.add(number);
          if (host(server).breaks) host(server).failed.add(number);
        }
        case Step.Add(String server, int number) -> {
          assertTrue(isHere(server) && host(server).hosts.contains(number), step::toString);
          assertFalse(host(server).failed.contains(number), step::toString);
          assertFalse(host(server).out.contains(number), step::toString);
          group(number).step = step;
          requireSafe(group(number), step, server, "");
        }
        case Step.Remove(String server, int number) -> {
          Group group = group(number);
          assertFalse(server.equals(group.leader), step::toString);
          Host host = host(server);
          // Nothing is taken from who is away for a short time, unless the operator says so.
          boolean gone = host.drains || host.failed.contains(number);
          assertTrue(host.presence != Presence.AWAY || gone, step::toString);
          long staying =
              group.members.stream()
                  .filter(name -> !name.equals(server))
                  .filter(name -> stays(name, group))
                  .count();
          assertTrue(staying >= target(), () -> "never fewer members than can be: " + step);
          group.step = step;
          requireSafe(group, step, server, server);
        }
        case Step.Transfer(String server, int number) -> {
          assertTrue(level(group(number)).contains(server), step::toString);
          group(number).step = step;
        }
        case Step.Release(String server, int number) -> {
          assertFalse(group(number).members.contains(server), step::toString);
          boolean failed = host(server).failed.contains(number);
          assertTrue(!failed || host(server).drains, () -> "it would be tried again: " + step);
          host(server).hosts.remove(number);
          host(server).failed.remove(number);
          host(server).out.remove(number);
        }
        case Step.Dismiss(String server) -> {
          assertTrue(host(server).drains, step::toString);
          groups.values().forEach(group -> assertFalse(group.members.contains(server)));
          servers.remove(server);
        }
      }
    }

    /// Ends what is under way: a change happens when a majority and who is concerned are there.
    void end() {
      for (Group group : groups.values()) {
        Step step = group.step;
        group.step = null;
        if (step == null || spare(group) < 0 || group.leader == null) continue;
        switch (step) {
          case Step.Add(String server, int _) -> {
            if (!isWell(server, group)) continue;
            group.members.add(server);
            group.lagging.remove(server);
            got.add(server);
          }
          case Step.Remove(String server, int number) -> {
            group.members.remove(server);
            host(server).out.add(number); // it stops by itself
            lost.add(server);
          }
          case Step.Transfer(String server, int _) -> {
            if (isWell(server, group)) group.leader = server;
          }
          default -> throw new AssertionError("no change of a group: " + step);
        }
      }
    }

    void elect() {
      for (Group group : groups.values()) {
        String leader = group.leader;
        if (leader != null && group.members.contains(leader) && isWell(leader, group)) {
          continue;
        }
        var level = level(group);
        group.leader = spare(group) < 0 ? null : level.first();
      }
    }

    /// Decides and does until nothing is to be done.
    void settle() {
      for (int i = 0; i < STEPS_MAX; i++) {
        elect();
        var step = ReplicaPlan.next(facts());
        if (step.isEmpty()) return;
        begin(step.get());
        end();
      }
      throw new AssertionError("it does not come to an end: " + facts());
    }

    /// Checks the balance when all servers are there and the plan has no step left.
    void requireSettled() {
      int staying = servers.size();
      for (Group group : groups.values()) assertEquals(target(), group.members.size());
      var loads = servers.keySet().stream().mapToInt(facts()::load).summaryStatistics();
      assertTrue(loads.getMax() - loads.getMin() <= 1, () -> "loads differ: " + facts());
      for (String name : servers.keySet()) {
        var member = new TreeSet<Integer>();
        groups.forEach((number, group) -> {
          if (group.members.contains(name)) member.add(number);
        });
        member.addAll(host(name).failed);
        assertEquals(member, host(name).hosts);
      }
      int most = (groups.size() + staying - 1) / staying;
      for (String name : servers.keySet()) {
        assertTrue(facts().leads(name) <= most, () -> name + " leads too much: " + facts());
      }
      Facts facts = facts();
      leaders()
          .forEach((number, leader) -> {
            if (facts.executes(leader, number)) return;
            for (String member : steady(group(number))) {
              boolean executes = facts.executes(member, number);
              assertFalse(
                  executes && facts.leads(member) < facts.leads(leader),
                  () -> leader + " has not given group " + number + " back to " + member);
            }
          });
    }
  }

  @Test
  void spreadsReplicasAndLeadersOfAllSizes() {
    for (int replicas : List.of(1, 2, 3, 5)) {
      for (int groups = 1; groups <= 8; groups++) {
        for (int servers = 1; servers <= 9; servers++) {
          var world = new World(replicas, groups, servers);
          world.settle();
          world.requireSettled();
        }
      }
    }
  }

  @Test
  void aServerThatComesOnlyGetsAndNoMoreThanItsShare() {
    for (int replicas : List.of(1, 2, 3, 5)) {
      for (int groups = 1; groups <= 8; groups++) {
        for (int servers = replicas; servers <= 8; servers++) {
          var world = new World(replicas, groups, servers);
          world.settle();
          world.got.clear();
          world.lost.clear();
          world.servers.put("new", new Host());
          world.settle();
          world.requireSettled();
          assertEquals(Set.of(), new TreeSet<>(without(world.got, "new")));
          assertTrue(world.got.size() <= replicas * groups / (servers + 1) + 1);
          assertEquals(world.got.size(), world.lost.size());
        }
      }
    }
  }

  @Test
  void aServerThatGoesGivesWhatItHad() {
    for (int replicas : List.of(1, 2, 3, 5)) {
      for (int groups = 1; groups <= 8; groups++) {
        for (int servers = 2; servers <= 8; servers++) {
          var world = new World(replicas, groups, servers);
          world.settle();
          int had = world.facts().load("s1");
          world.got.clear();
          world.lost.clear();
          world.host("s1").drains = true;
          world.settle();
          assertFalse(world.servers.containsKey("s1"));
          world.requireSettled();
          // Each of its replicas goes to the server with the fewest that lacks it; so one more may
          // move.
          int more = without(world.lost, "s1").size();
          assertTrue(more <= 1, () -> "of others moved: " + world.lost);
          assertEquals(had + more, world.lost.size());
          assertEquals(servers > replicas ? had + more : 0, world.got.size());
        }
      }
    }
  }

  @Test
  void anotherNumberOfReplicasAddsOrRemovesThatManyOfEachGroup() {
    List<Integer> numbers = List.of(1, 2, 3, 5);
    for (int before : numbers) {
      for (int after : numbers) {
        for (int groups = 1; groups <= 8; groups++) {
          for (int servers = 1; servers <= 8; servers++) {
            var world = new World(before, groups, servers);
            world.settle();
            int had = world.target();
            world.got.clear();
            world.lost.clear();
            world.replicas = after;
            world.settle();
            world.requireSettled();
            int more = groups * (world.target() - had);
            assertEquals(more, world.got.size() - world.lost.size());
            // A few moves make the numbers of the servers' replicas even.
            int moved = Math.min(world.got.size(), world.lost.size());
            assertTrue(moved <= 3, () -> "of others moved: " + world.got + ", " + world.lost);
          }
        }
      }
    }
  }

  private static List<String> without(List<String> names, String name) {
    return names.stream().filter(other -> !other.equals(name)).toList();
  }

  @Test
  void nothingMovesBecauseAServerIsAwayForAShortTime() {
    for (int servers = 3; servers <= 7; servers++) {
      var world = new World(3, 4, servers);
      world.settle();
      world.got.clear();
      world.lost.clear();
      world.host("s1").presence = Presence.AWAY;
      world.settle();
      world.host("s1").presence = Presence.HERE;
      world.settle();
      assertEquals(List.of(), world.got);
      assertEquals(List.of(), world.lost);
      world.requireSettled();
    }
  }

  @Test
  void othersGetWhatALostServerHas() {
    var world = new World(3, 4, 5);
    world.settle();
    world.host("s2").presence = Presence.LOST;
    world.settle();
    assertEquals(0, world.facts().load("s2"));
    for (Group group : world.groups.values()) assertEquals(3, group.members.size());

    // With nobody who could have it instead, it keeps its place.
    var small = new World(3, 4, 3);
    small.settle();
    small.host("s2").presence = Presence.LOST;
    small.settle();
    assertEquals(4, small.facts().load("s2"));
  }

  @Test
  void anotherServerGetsThePlaceOfAReplicaThatHasFailed() {
    var world = new World(3, 4, 5);
    world.settle();
    String broken = world.group(2).members.first();
    world.host(broken).failed.add(2);
    world.got.clear();
    world.lost.clear();
    world.settle();
    assertEquals(broken, world.lost.getFirst());
    assertTrue(world.got.size() == world.lost.size() && world.got.size() <= 2, world.got::toString);
    world.requireSettled();
    assertEquals(Set.of(2), world.host(broken).failed);

    // Started again it is well, and not needed.
    world.host(broken).failed.clear();
    world.settle();
    world.requireSettled();

    // With nobody who could have it instead, it keeps its place, for when its server is started
    // again.
    var small = new World(3, 4, 3);
    small.settle();
    small.host("s2").failed.add(1);
    small.settle();
    assertTrue(small.group(1).members.contains("s2"));
  }

  @Test
  void aServerOnWhichNothingCanBeHostedKeepsNobodyWaiting() {
    var world = new World(3, 4, 4);
    world.settle();
    world.servers.put("new", new Host());
    world.host("new").breaks = true;
    world.host("s1").drains = true;
    world.settle();
    assertFalse(world.servers.containsKey("s1"));
    assertEquals(world.host("new").hosts, world.host("new").failed);
    for (Group group : world.groups.values()) assertFalse(group.members.contains("new"));

    world.host("new").breaks = false;
    world.host("new").failed.clear();
    world.settle();
    world.requireSettled();
  }

  @Test
  void aServerThatDrainsFirstLosesItsLeaderships() {
    var world = new World(3, 4, 4);
    world.settle();
    String leads = world.group(0).leader;
    if (leads == null) throw new AssertionError("nobody leads");
    int led = world.facts().leads(leads);
    world.host(leads).drains = true;
    for (int i = 0; i < led; i++) {
      Step step = ReplicaPlan.next(world.facts()).orElseThrow();
      assertTrue(step instanceof Step.Transfer(String to, int _) && !to.equals(leads));
      world.begin(step);
      world.end();
    }
    assertEquals(0, world.facts().leads(leads));
  }

  @Test
  void leadershipsGoBackToTheMemberThatExecutesWhenItIsLevelForAWhile() {
    for (int groups = 1; groups <= 8; groups++) {
      for (int servers = 3; servers <= 7; servers++) {
        var world = new World(3, groups, servers);
        world.executing = 1;
        world.settle();
        world.requireSettled();
        Map<Integer, String> leaders = world.leaders();
        // One that leads a group whose calls it executes; with few groups and servers there is one.
        Facts facts = world.facts();
        String failed =
            leaders.entrySet().stream()
                .filter(led -> facts.executes(led.getValue(), led.getKey()))
                .findFirst()
                .orElseThrow()
                .getValue();
        world.host(failed).presence = Presence.AWAY;
        world.settle();
        assertFalse(world.leaders().containsValue(failed));
        // It is back, and catches up in one group after the other.
        world.host(failed).presence = Presence.HERE;
        for (Group group : world.groups.values()) {
          if (group.members.contains(failed)) group.lagging.add(failed);
        }
        Map<Integer, String> meanwhile = world.leaders();
        world.settle();
        assertEquals(meanwhile, world.leaders());
        // It is level, and has not been for a while.
        for (Group group : world.groups.values()) {
          group.fresh.addAll(group.lagging);
          group.lagging.clear();
        }
        if (groups == 1) {
          assertEquals(Optional.empty(), ReplicaPlan.next(world.facts()));
          assertTrue(ReplicaPlan.givesBack(world.facts(), 0));
        }
        world.groups.values().forEach(group -> group.fresh.clear());
        world.settle();
        world.requireSettled();
        if (groups == 1) assertEquals(leaders, world.leaders());
        for (int group = 0; group < groups; group++) {
          assertFalse(ReplicaPlan.givesBack(world.facts(), group));
        }
      }
    }
  }

  @Test
  void theOtherMemberThatExecutesTakesOverFromALogUnit() {
    var world = new World(3, 1, 3);
    world.executing = 2;
    world.settle();
    Group group = world.group(0);
    var byWeight = new ArrayList<>(group.members);
    byWeight.sort(Comparator.comparingLong(name -> -ReplicaPlan.weight(name, 0)));
    world.host(byWeight.get(0)).presence = Presence.AWAY;
    group.leader = byWeight.get(2);
    var toSecond = new Step.Transfer(byWeight.get(1), 0);
    assertEquals(Optional.of(toSecond), ReplicaPlan.next(world.facts()));
    assertTrue(ReplicaPlan.givesBack(world.facts(), 0));
    // A replica that has stopped leads nothing.
    world.host(byWeight.get(1)).failed.add(0);
    assertFalse(ReplicaPlan.givesBack(world.facts(), 0));
    world.host(byWeight.get(1)).failed.clear();
    // Where all members execute, any of them may go on.
    world.executing = 3;
    assertEquals(Optional.empty(), ReplicaPlan.next(world.facts()));
    world.executing = 2;
    group.leader = byWeight.get(1);
    world.host(byWeight.get(0)).presence = Presence.HERE;
    assertEquals(Optional.empty(), ReplicaPlan.next(world.facts()));
  }

  @Test
  void noLeadershipGoesBackWhileAMemberCatchesUp() {
    var world = new World(3, 1, 3);
    world.executing = 1;
    world.settle();
    Group group = world.group(0);
    var byWeight = new ArrayList<>(group.members);
    byWeight.sort(Comparator.comparingLong(name -> -ReplicaPlan.weight(name, 0)));
    assertEquals(byWeight.get(0), group.leader);
    group.leader = byWeight.get(2);
    group.lagging.add(byWeight.get(1));
    assertEquals(Optional.empty(), ReplicaPlan.next(world.facts()));
    // A member that is away catches up when it is back.
    world.host(byWeight.get(1)).presence = Presence.AWAY;
    var back = new Step.Transfer(byWeight.get(0), 0);
    assertEquals(Optional.of(back), ReplicaPlan.next(world.facts()));
  }

  @Test
  void aDeadServerIsDrained() {
    var world = new World(3, 4, 3);
    world.settle();
    world.host("s0").presence = Presence.AWAY;
    world.elect();
    world.host("s0").drains = true;
    world.settle();
    assertFalse(world.servers.containsKey("s0"));
    world.requireSettled();
  }

  @Test
  void anyHistoryComesToAnEndAndNoStepLowersAvailability() {
    for (int seed = 0; seed < 2_000; seed++) {
      var chance = new Chance(seed);
      var world =
          new World(chance.of(List.of(1, 2, 3, 5)), chance.between(1, 8), chance.between(1, 7));
      world.executing = new Chance(seed).of("executing").between(1, world.replicas);
      int named = 0;
      for (int turn = 0; turn < 60; turn++) {
        happen(world, chance, "t" + named++);
        world.elect();
        ReplicaPlan.next(world.facts()).ifPresent(world::begin);
        // A change takes time, and servers fail meanwhile.
        if (chance.percent(30)) happen(world, chance, "t" + named++);
        world.elect();
        if (chance.percent(70)) world.end();
      }
      for (Host host : world.servers.values()) {
        host.presence = Presence.HERE;
        host.failed.clear(); // started again
        host.breaks = false;
      }
      world.groups.values().forEach(group -> group.lagging.clear());
      world.groups.values().forEach(group -> group.fresh.clear());
      world.end();
      world.settle();
      try {
        world.requireSettled();
      } catch (AssertionError failed) {
        throw new AssertionError("seed " + seed, failed);
      }
    }
  }

  private static void happen(World world, Chance chance, String newcomer) {
    String some = chance.of(List.copyOf(world.servers.keySet()));
    Host host = world.host(some);
    switch (chance.below(13)) {
      case 10 -> {
        if (!host.hosts.isEmpty()) host.failed.add(chance.of(List.copyOf(host.hosts)));
      }
      case 11 -> host.breaks = !host.breaks;
      case 12 -> world.replicas = chance.of(List.of(1, 2, 3, 5));
      case 0, 1 -> host.presence = Presence.AWAY;
      case 2, 3, 4 -> host.presence = Presence.HERE;
      case 5 -> {
        if (host.presence == Presence.AWAY) host.presence = Presence.LOST;
      }
      case 6 -> {
        if (world.servers.size() < 9) world.servers.put(newcomer, new Host());
      }
      case 7 -> {
        long staying = world.servers.values().stream().filter(other -> !other.drains).count();
        if (staying > 1) host.drains = true;
      }
      case 8 -> {
        Group group = world.group(chance.below(world.groups.size()));
        if (!some.equals(group.leader)) group.lagging.add(some);
        group.fresh.add(some);
      }
      default -> world.groups.values().forEach(group -> group.lagging.clear());
    }
  }
}
