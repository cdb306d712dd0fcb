package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.Forbidden;
import stoa.Placement;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.Unavailable;
import stoa.View;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.node.access.IdentitySource;
import stoa.node.access.Proof;
import stoa.objects.ObjectService;
import stoa.transport.Address;
import stoa.wire.SingleRequests;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.TreeStatus;

/// A process joins a tree with the roles of its identity.
class TreeRolesTest {
  /// A number of a game.
  @Shared(name = "game.Score", placement = Placement.CLIENT)
  public static class Score {
    private long points;

    public long add(long more) {
      points += more;
      return points;
    }
  }

  /// A number that not all may see.
  @Shared(name = "bank.Sum", placement = Placement.CLIENT)
  public static class Sum {
    private long cents;

    public long add(long more) {
      cents += more;
      return cents;
    }
  }

  /// The same, at the server.
  @Shared(name = "bank.Till")
  public static class Till {
    private long cents;

    public long add(long more) {
      cents += more;
      return cents;
    }
  }

  @TempDir Path directory;

  private Server serve(ObjectService service) throws Exception {
    var lines =
        List.of(
            token("player"),
            "player may call,create on game.*",
            token("guest"),
            "guest may call on game.*",
            token("clerk"),
            "clerk may call,create,operate");
    Path file = Files.writeString(directory.resolve("identities"), String.join("\n", lines));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    var config = ServerConfig.of("127.0.0.1", 0).withTreeFanOut(2);
    return Server.start(config.withIdentities(new IdentitySource.Named(file)), service);
  }

  private static String token(String identity) {
    return identity + " token " + Proof.token(identity).hash();
  }

  private static Stoa open(Server server, String identity, TreeMembership membership) {
    return Stoa.open(
        StoaConfig.of("stoa://127.0.0.1:" + server.port() + "?wait=2s")
            .withMembership(membership)
            .withSecurity(ConnectionSecurity.none().withToken(identity)));
  }

  private static List<TreeStatus> members(Server server) {
    return SingleRequests.ask(
            ConnectionSecurity.none().withToken("clerk"),
            new Address("127.0.0.1", server.port()),
            60_000,
            questions -> questions.status(StatusRequest.getDefaultInstance()))
        .getTreeList();
  }

  @Test
  void aLeafUsesObjectsOfTheTypesOfItsRolesAlone() throws Exception {
    try (var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
        var server = serve(service);
        Stoa clerk = open(server, "clerk", TreeMembership.inner());
        Stoa other = open(server, "clerk", TreeMembership.inner());
        Stoa player = open(server, "player", TreeMembership.leaf())) {
      assertEquals(1, clerk.get(Sum.class, "s").add(1));
      assertEquals(1, other.get(Score.class, "x").add(1));
      assertEquals(3, player.get(Score.class, "x").add(2));
      assertEquals(4, clerk.get(Score.class, "x").add(1));
      assertEquals(5, player.get(Score.class, "x").add(1));
      player.flush();
      var sum = player.get(Sum.class, "s");
      var till = clerk.get(Till.class, "t");
      till.add(1);
      var same = player.get(Till.class, "t");
      for (Runnable forbidden :
          List.<Runnable>of(
              () -> sum.add(1),
              () -> player.together(List.of(player.get(Score.class, "x"), sum), () -> sum.add(1)),
              () ->
                  player
                      .view(Till.class, player.ref(same), new View.Client(Reads.STRICT))
                      .add(1))) {
        String why = String.valueOf(assertThrows(Forbidden.class, forbidden::run).getMessage());
        assertTrue(why.contains("bank.") && why.contains("call and create"), why);
      }
      assertEquals(2, clerk.get(Sum.class, "s").add(1));
      assertEquals(6, player.get(Score.class, "x").add(1));
    }
  }

  @Test
  void suchALeafIsBelowTheRootEvenWhenOthersHaveItsPlaces() throws Exception {
    try (var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
        var server = serve(service);
        Stoa clerk = open(server, "clerk", TreeMembership.inner());
        Stoa other = open(server, "clerk", TreeMembership.inner());
        Stoa player = open(server, "player", TreeMembership.leaf())) {
      for (var each : List.of(clerk, other, player)) {
        each.get(Score.class, "x").add(1);
        each.flush();
      }
      while (members(server).stream().filter(each -> each.getParent().startsWith("root")).count()
          < 3) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aProcessThroughWhichOthersWouldPassNeedsAllTypesAndEveryProcessBothRoles() throws Exception {
    try (var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
        var server = serve(service);
        Stoa inner = open(server, "player", TreeMembership.inner());
        Stoa guest = open(server, "guest", TreeMembership.leaf())) {
      var refused =
          assertThrows(Unavailable.class, () -> inner.get(Score.class, "x").add(1)).getMessage();
      assertTrue(String.valueOf(refused).contains("TreeMembership.leaf()"), refused);
      var absent =
          assertThrows(Unavailable.class, () -> guest.get(Score.class, "x").add(1)).getMessage();
      assertTrue(String.valueOf(absent).contains("the role create"), absent);
    }
  }
}
