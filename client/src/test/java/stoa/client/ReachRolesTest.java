package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Changes;
import stoa.ConnectionSecurity;
import stoa.Forbidden;
import stoa.ObjectEvent;
import stoa.ObjectListener;
import stoa.Schedule;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.node.access.IdentitySource;
import stoa.node.access.Proof;
import stoa.objects.ObjectService;

/// The objects of Stoa that call or read objects of all types: a role for their own types is none
/// for what they do.
class ReachRolesTest {
  @Shared(name = "reach.Box")
  static class Box implements ObjectListener {
    private long heard;

    public long put() {
      return ++heard;
    }

    @Override
    public void on(ObjectEvent event) {
      heard++;
    }
  }

  @TempDir Path directory;

  private static Stoa open(Server server, String token) {
    return Stoa.open(
        StoaConfig.of("stoa://127.0.0.1:" + server.port() + "?wait=0s")
            .withSecurity(ConnectionSecurity.none().withToken(token)));
  }

  private static String token(String identity) {
    return identity + " token " + Proof.token(identity).hash();
  }

  @Test
  void whatReachesAllTypesNeedsARoleForAllTypes() throws Exception {
    var lines =
        List.of(
            token("some"),
            "some may read,call,create on reach.*,stoa.*",
            token("all"),
            "all may read,call,create");
    Path file = Files.writeString(directory.resolve("identities"), String.join("\n", lines));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    var config = ServerConfig.of("127.0.0.1", 0).withIdentities(new IdentitySource.Named(file));
    try (var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
        var server = Server.start(config, service);
        Stoa some = open(server, "some");
        Stoa all = open(server, "all")) {
      Box box = all.get(Box.class, "b");
      box.put();
      all.listeners().tag("good", box);
      all.listeners().listen("one", Changes.of(Box.class), all.get(Box.class, "listener"));
      all.timers().schedule("later", Schedule.after(Duration.ofDays(1)), box).put();

      Box same = some.get(Box.class, "b");
      same.put();
      List<Runnable> forbidden =
          List.of(
              () -> some.listeners().listen("two", Changes.of(Box.class), same),
              () -> some.listeners().listenToTag("two", "good", same),
              () -> some.listeners().tag("bad", same),
              () -> some.listeners().untag("good", same),
              () -> some.listeners().stop("one"),
              () -> some.timers().schedule(Schedule.after(Duration.ofDays(1)), same).put(),
              () -> some.timers().cancel("later", same));
      for (Runnable one : forbidden) {
        String why = String.valueOf(assertThrows(Forbidden.class, one::run).getMessage());
        assertTrue(why.contains("has not the role call for all types"), why);
      }
      assertEquals(List.of("one"), all.listeners().all().stream().map(one -> one.name()).toList());
      assertEquals(1, all.timers().of(box).size());
      assertFalse(all.listeners().stop("two"));
    }
  }
}
