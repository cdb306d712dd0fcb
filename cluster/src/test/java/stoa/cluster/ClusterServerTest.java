package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Blob;
import stoa.Stoa;
import stoa.StoaException;
import stoa.cluster.RunningServers.Counter;
import stoa.cluster.RunningServers.Tally;
import stoa.log.Replica;
import stoa.sim.world.ReplicaContents;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.StatusReply;

/// Servers that are started, and started again.
class ClusterServerTest {
  private static final int TALLIES = 4;

  @TempDir private Path directory;

  @Test
  void aStoreOfManyGroupsWithOneOrderHasItsServersInTheFirst() throws IOException {
    try (var servers = new RunningServers(directory, 9, 3)) {
      servers.start("a");
      try (Stoa stoa = servers.open()) {
        for (int i = 0; i < 64; i++) assertEquals(1, stoa.get(Counter.class, "c" + i).increment());
        long sum =
            stoa.transact(() -> {
              long all = 0;
              for (int i = 0; i < 64; i++) all += stoa.get(Counter.class, "c" + i).value();
              return all;
            });
        assertEquals(64, sum);
      }
    }
  }

  @Test
  void aServerWithoutANameIsCalledByThePortThatItWasGiven() throws IOException {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.startWithoutName();
      assertEquals("s" + servers.first().port(), servers.first().name());
    }
  }

  @ParameterizedTest
  @EnumSource
  void theOneServerThatIsLeftGoesOnAloneAndOthersJoinIt(Replica.LogPlace place) throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.logs(place);
      servers.start("a", "b", "c");
      try (Stoa stoa = RunningServers.open(servers.get(1))) {
        Counter counter = stoa.get(Counter.class, "hot");
        for (int i = 1; i <= 20; i++) assertEquals(i, counter.increment());
      }
      Path left = directory.resolve("c");
      assertThrows(StoaException.class, () -> ServerDirectory.goOnAlone(left), "it runs");
      servers.stop();
      assertEquals("c", ServerDirectory.goOnAlone(left));
      assertEquals("c", ServerDirectory.goOnAlone(left));
      servers.start("c", "d");
      try (Stoa stoa = RunningServers.open(servers.last())) {
        assertEquals(21, stoa.get(Counter.class, "hot").increment());
      }
      assertThrows(
          IllegalArgumentException.class,
          () -> ServerDirectory.goOnAlone(directory.resolve("none")));
    }
  }

  @Test
  void serversMoveTheirLogsToTheirDevicesWhenTheyAreStartedAgainOneAfterTheOther()
      throws Exception {
    var names = List.of("a", "b", "c");
    int groups = 2;
    try (var servers = new RunningServers(directory, groups, 3)) {
      servers.logs(Replica.LogPlace.FILES);
      servers.start(names.toArray(String[]::new));
      try (Stoa stoa = servers.open()) {
        for (int i = 0; i < TALLIES; i++)
          assertEquals(1, stoa.get(Tally.class, "t" + i).increment());
        servers.logs(Replica.LogPlace.DEVICE);
        for (int k = 0; k < names.size(); k++) {
          servers.stop(names.get(k));
          for (int i = 0; i < TALLIES; i++) {
            assertEquals(2 + 2L * k, stoa.get(Tally.class, "t" + i).increment());
          }
          servers.start(names.get(k));
          for (int i = 0; i < TALLIES; i++) {
            assertEquals(3 + 2L * k, stoa.get(Tally.class, "t" + i).increment());
          }
        }
        servers.stop();
        for (String name : names) {
          assertEquals(List.of(), logFiles(directory.resolve(name)));
          for (int group = 0; group < groups; group++) {
            try (Replica replica = replica(name, group)) {
              assertNotNull(replica.log());
            }
          }
        }
        // They stay there.
        servers.logs(Replica.LogPlace.FILES);
        servers.start(names.toArray(String[]::new));
        for (int i = 0; i < TALLIES; i++)
          assertEquals(8, stoa.get(Tally.class, "t" + i).increment());
      }
    }
  }

  private static List<Path> logFiles(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      return files
          .filter(file -> String.valueOf(file.getFileName()).matches("log-[0-9a-f]+|spare"))
          .toList();
    }
  }

  @Test
  void fewerReplicasThanServersGoOnFromLogUnitsAndAreStartedAgain() throws Exception {
    int groups = 2;
    for (int count : List.of(2, 1)) {
      try (var servers = new RunningServers(directory, groups, count)) {
        var names = List.of("a" + count, "b" + count, "c" + count);
        servers.start(names.toArray(String[]::new));
        try (Stoa stoa = RunningServers.open(servers.first())) {
          for (int i = 0; i < 20; i++) assertEquals(1, stoa.get(Tally.class, "t" + i).increment());
          assertEquals(groups * (3L - count), logUnits(servers));
          servers.removeFirst().close();
          for (int i = 0; i < 20; i++) assertEquals(2, stoa.get(Tally.class, "t" + i).increment());
        }
        if (count == 2) continue;
        servers.stop();
        servers.start(names.reversed().toArray(String[]::new));
        try (Stoa stoa = RunningServers.open(servers.first())) {
          for (int i = 0; i < 20; i++) assertEquals(3, stoa.get(Tally.class, "t" + i).increment());
        }
      }
    }
  }

  @Test
  void theStatusTellsWhichLeadershipALogUnitGivesBack() throws Exception {
    var byWeight = new ArrayList<>(List.of("a", "b", "c"));
    byWeight.sort(Comparator.comparingLong(name -> ReplicaPlan.weight(name, 0)));
    try (var servers = new RunningServers(directory, 1, 1)) {
      // The first one begins the store, and has the least weight: it leads for ten seconds or more.
      servers.start(byWeight.toArray(String[]::new));
      for (var server : servers.status().getServersList()) {
        MemberStatus member = server.getGroups(0);
        boolean executes = server.getServer().equals(byWeight.getLast());
        assertEquals(member.getLeads() && !executes, member.getGivesBack(), server::toString);
      }
      // When all execute, no member is a log unit.
      assertEquals("", servers.replicate(3));
      for (String name : byWeight) {
        assertTrue(members(servers, name).noneMatch(MemberStatus::getGivesBack), name);
      }
    }
  }

  @Test
  void theNumberOfReplicasChangesWhileClientsCall() throws Exception {
    int groups = 2;
    try (var servers = new RunningServers(directory, groups, 1)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = servers.open();
          var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        var stops = new AtomicBoolean();
        Future<Long> made = callers.submit(() -> count(stoa, stops));
        try {
          assertEquals(4, logUnits(servers));
          assertEquals(1, servers.status().getReplicas());
          assertEquals("", servers.replicate(3));
          assertEquals(0, logUnits(servers));
          String ended = servers.haltLeader(0);
          servers.start(ended);
          assertTrue(servers.replicate(4).contains("4 replicas; a group has 1, 2, 3 or 5"));
          assertEquals(0, logUnits(servers));
          assertEquals(3, servers.status().getReplicas());
          assertEquals("", servers.replicate(1));
          assertEquals(4, logUnits(servers));
          servers.start(servers.haltLeader(0));
        } finally {
          stops.set(true);
        }
        long calls = made.get();
        servers.stop();
        for (int group = 0; group < groups; group++) requireNoDifference(group, "a", "b", "c");
        servers.start("c", "a", "b");
        assertEquals(4, logUnits(servers));
        for (int i = 0; i < TALLIES; i++) {
          assertEquals(calls + 1, stoa.get(Tally.class, "t" + i).increment());
        }
      }
    }
  }

  @Test
  void threeReplicasBecomeFiveAndThreeAgainWhileClientsCall() throws Exception {
    var names = List.of("a", "b", "c", "d", "e");
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start(names.toArray(String[]::new));
      try (Stoa stoa = servers.open();
          var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        var stops = new AtomicBoolean();
        Future<Long> made = callers.submit(() -> count(stoa, stops));
        try {
          assertEquals("", servers.replicate(5));
          assertTrue(names.stream().allMatch(name -> servers.has(name, 0)));
          assertEquals("", servers.replicate(3));
          assertEquals(3, names.stream().filter(name -> servers.has(name, 0)).count());
          servers.haltLeader(0);
          stoa.get(Tally.class, "t0").value(); // by another leader
        } finally {
          stops.set(true);
        }
        long calls = made.get();
        for (int i = 0; i < TALLIES; i++) {
          assertEquals(calls + 1, stoa.get(Tally.class, "t" + i).increment());
        }
      }
    }
  }

  /// Calls all tallies in turn, and returns how many calls each has got.
  private static long count(Stoa stoa, AtomicBoolean stops) {
    long calls = 0;
    while (!stops.get()) {
      calls++;
      for (int i = 0; i < TALLIES; i++) {
        assertEquals(calls, stoa.get(Tally.class, "t" + i).increment());
      }
    }
    return calls;
  }

  /// Compares the replicas of a group at servers that have stopped.
  private void requireNoDifference(int group, String... names) {
    try (Replica first = replica(names[0], group)) {
      for (int i = 1; i < names.length; i++) {
        try (Replica other = replica(names[i], group)) {
          assertTrue(ReplicaContents.requireNoDifference(first, other) > TALLIES);
        }
      }
    }
  }

  private Replica replica(String name, int group) {
    Path own = ServerDirectory.replica(directory.resolve(name), group);
    return new Replica(Machine.real().device(own));
  }

  @Test
  void anotherServerGetsThePlaceOfAReplicaThatCannotBeOpened() throws Exception {
    try (var servers = new RunningServers(directory, 2, 3)) {
      servers.start("a", "b", "c", "d");
      try (Stoa stoa = servers.open()) {
        for (int i = 0; i < 20; i++) assertEquals(1, stoa.get(Tally.class, "t" + i).increment());
        String broken =
            servers.status().getServersList().stream()
                .filter(server -> server.getGroupsCount() == 2)
                .findFirst()
                .orElseThrow()
                .getServer();
        servers.stop(broken);
        garble(directory.resolve(broken).resolve("replica-1"));
        servers.begin(broken);
        servers.settleWithout(broken, 1);
        for (int i = 0; i < 20; i++) assertEquals(2, stoa.get(Tally.class, "t" + i).increment());
      }
    }
  }

  private static void garble(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.write(file, new byte[Math.toIntExact(Math.min(4_096, Files.size(file)))]);
      }
    }
  }

  private static long logUnits(RunningServers servers) {
    return servers.status().getServersList().stream()
        .flatMap(server -> server.getGroupsList().stream())
        .filter(MemberStatus::getLogUnit)
        .count();
  }

  @Test
  void aServerWithoutAClassLeadsWithTheCodeOfTheLog() throws Exception {
    try (var servers = new RunningServers(directory, 2, 3)) {
      servers.start("a");
      try (Stoa stoa = servers.open()) {
        for (int i = 0; i < 20; i++) assertEquals(1, stoa.get(Tally.class, "t" + i).increment());
        servers.beginWithout(Set.of(Tally.class), "b");
        servers.settle();
        assertEquals(1, leads(servers, "b"));
        for (int i = 0; i < 20; i++) {
          Tally tally = stoa.get(Tally.class, "t" + i);
          assertEquals(2, tally.increment());
          assertEquals(2, tally.value());
        }
      }
    }
  }

  private static long leads(RunningServers servers, String name) {
    return members(servers, name).filter(MemberStatus::getLeads).count();
  }

  private static Stream<MemberStatus> members(RunningServers servers, String name) {
    return servers.status().getServersList().stream()
        .filter(server -> server.getServer().equals(name))
        .flatMap(server -> server.getGroupsList().stream());
  }

  @Test
  void aServerThatIsStartedAgainAloneShowsWhoItsMembersWere() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      servers.stop();
      servers.begin("b");
      StatusReply status = servers.status();
      var states = new TreeMap<String, String>();
      for (var server : status.getServersList()) states.put(server.getServer(), server.getState());
      assertEquals(Map.of("a", "away", "b", "", "c", "away"), states);
      assertTrue(members(servers, "a").noneMatch(MemberStatus::getLeads));
      long age = status.getServersAgeMillis();
      while (servers.status().getServersAgeMillis() <= age) servers.awaitNext();
    }
  }

  @Test
  void allAreStartedAgainAndHaveWhatWasThere() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = RunningServers.open(servers.first())) {
        assertEquals(1, stoa.get(Counter.class, "kept").increment());
        assertEquals(1, stoa.get(Blob.class, "film").write(3, new byte[] {1, 2}));
      }
      servers.stop();
      servers.start("b", "c", "a");
      try (Stoa stoa = RunningServers.open(servers.first())) {
        assertEquals(2, stoa.get(Counter.class, "kept").increment());
        Blob film = stoa.get(Blob.class, "film");
        assertArrayEquals(new byte[] {0, 0, 0, 1, 2}, film.read(0, 5));
        assertEquals(2, film.write(0, new byte[] {3}));
      }
    }
  }
}
