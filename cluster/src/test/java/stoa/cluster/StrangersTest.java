package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.base.Secret;
import stoa.cluster.RunningServers.Counter;
import stoa.raft.Member;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.Reach;
import stoa.raft.node.MicroRaft;

/// Requests to servers from strangers, and from peers that have no right to them.
class StrangersTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @TempDir private Path directory;

  /// A node that is no server, and what it knows.
  private Node node(String name, @Nullable Secret secret) {
    var config = NodeConfig.of(name, directory.resolve("nodes").resolve(name));
    return new MicroRaft()
        .start(
            secret == null ? config : config.withSecret(secret),
            (_, _) -> {
              throw new IllegalStateException("nobody asks it");
            },
            Reach.ALL);
  }

  private Membership noted(String server) {
    return Objects.requireNonNull(Membership.read(directory.resolve(server)));
  }

  private Member member(String server) {
    var noted = noted(server);
    return new Member(noted.name(), noted.host(), noted.port(), noted.supplyPort());
  }

  private Secret secret() {
    return Objects.requireNonNull(SecretFile.in(directory.resolve("a")));
  }

  private static byte[] told(StoreProperties storeProperties, Step step) {
    var mandate = new ServerRequest.Mandate(1_000_000, 1);
    return new ServerRequest(storeProperties, mandate, new ServerRequest.Said.Do(step)).bytes();
  }

  @Test
  void aStoreIsNotDeletedByWhoDoesNotKnowTheSecret() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = servers.open()) {
        assertEquals(1, stoa.get(Counter.class, "hot").increment());
        StoreProperties storeProperties = Objects.requireNonNull(noted("a").storeProperties());
        var strangers = new ArrayList<Node>();
        try (var plain = node("plain", null);
            var wrong = node("b", Secret.of(new byte[Secret.BYTES]))) {
          strangers.addAll(List.of(plain, wrong));
          for (String name : List.of("a", "b", "c")) {
            byte[] release = told(storeProperties, new Step.Release(name, 0));
            for (Node stranger : strangers) {
              assertThrows(
                  IOException.class,
                  () -> {
                    try (var line = stranger.line(member(name))) {
                      line.ask(release, PATIENCE);
                    }
                  });
            }
          }
        }
        assertEquals(2, stoa.get(Counter.class, "hot").increment());
        for (String name : List.of("a", "b", "c")) assertTrue(noted(name).hosts().containsKey(0));
      }
    }
  }

  @Test
  void aServerDeletesNothingOfAGroupOfWhichItIsAMemberWhoeverSaysSo() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b", "c");
      StoreProperties storeProperties = Objects.requireNonNull(noted("a").storeProperties());
      // Knows the secret, and says that it is the server that leads.
      String leads =
          List.of("a", "b", "c").stream()
              .filter(name -> isLeader(servers, name))
              .findFirst()
              .orElseThrow();
      try (var liar = node(leads, secret())) {
        for (String name : List.of("a", "b", "c")) {
          try (var line = liar.line(member(name))) {
            for (Step step : List.of(new Step.Release(name, 0), new Step.Dismiss(name))) {
              Report report = Report.of(line.ask(told(storeProperties, step), PATIENCE));
              assertTrue(!report.refusal().isEmpty(), name + " " + step);
            }
          }
          assertTrue(noted(name).hosts().containsKey(0), name);
          assertTrue(Files.exists(directory.resolve(name).resolve("replica-0")), name);
        }
      }
    }
  }

  private static boolean isLeader(RunningServers servers, String name) {
    return servers.status().getServersList().stream()
        .filter(server -> server.getServer().equals(name))
        .flatMap(server -> server.getGroupsList().stream())
        .anyMatch(member -> member.getLeads());
  }

  @Test
  void aServerThatIsNotListedIsAnsweredNothing() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b");
      try (var unlisted = node("z", secret());
          var line = unlisted.line(member("a"))) {
        var inquiry = new Inquiry(0, new Inquiry.Subject.Members());
        assertThrows(IOException.class, () -> line.ask(inquiry.bytes(), PATIENCE));
      }
    }
  }

  @Test
  void nobodyJoinsOrDrainsWithoutTheSecret() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b");
      assertTrue(servers.drainWithout("b").contains("does not know the secret"));
      assertTrue(servers.joinWithout("z@127.0.0.1:1:2").contains("does not know the secret"));
      assertEquals(2, servers.status().getServersCount());
    }
  }

  @Test
  void theSecretIsForItsOwnerAloneAndIsRefusedWhenItIsNot() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a");
      Path file = directory.resolve("a").resolve(SecretFile.NAME);
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
      var refused = assertThrows(IllegalArgumentException.class, () -> SecretFile.read(file));
      assertTrue(String.valueOf(refused.getMessage()).contains("chmod o-rwx"));
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
  }

  @Test
  void aStoreOfBeforeHasNoSecretUntilAllServersAreGivenOne() throws Exception {
    try (var servers = new RunningServers(directory, 1, 3)) {
      servers.start("a", "b");
      servers.stop();
      Path kept =
          Files.move(directory.resolve("a").resolve(SecretFile.NAME), directory.resolve("kept"));
      Files.delete(directory.resolve("b").resolve(SecretFile.NAME));
      servers.begin("a");
      servers.begin("b");
      servers.settle();
      try (Stoa stoa = servers.open()) {
        assertEquals(1, stoa.get(Counter.class, "hot").increment());
      }
      servers.stop();
      for (String name : List.of("a", "b")) {
        Files.copy(kept, directory.resolve(name).resolve(SecretFile.NAME));
      }
      servers.begin("a");
      servers.begin("b");
      servers.settle();
      try (Stoa stoa = servers.open()) {
        assertEquals(2, stoa.get(Counter.class, "hot").increment());
      }
      assertTrue(servers.drainWithout("b").contains("does not know the secret"));
    }
  }
}
