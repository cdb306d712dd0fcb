package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import javax.crypto.KeyGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Diverged;
import stoa.Shared;
import stoa.Stoa;

/// An object that is another one at each of three servers.
class DivergedObjectTest {
  /// Has the JDK make its key, which is another one in every run; nobody sees that in its bytecode.
  @Shared(name = "test.Vault", key = "id")
  static class Vault {
    private final String id;
    private byte[] secret = {};
    private int entries;

    protected Vault(String id) {
      this.id = id;
    }

    public int add() {
      return ++entries;
    }

    public int seal() throws NoSuchAlgorithmException {
      secret = KeyGenerator.getInstance("AES").generateKey().getEncoded();
      return secret.length;
    }

    @Accessor
    public String name() {
      return id + " of " + entries;
    }
  }

  @TempDir private Path directory;

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  @Test
  void isQuarantinedUntilAStateOfItIsAccepted() throws Exception {
    try (var one = start("one", List.of("--replicated"));
        var two = start("two", one.joining());
        var three = start("three", two.joining());
        var stoa = Stoa.open(one.url())) {
      Vault vault = stoa.get(Vault.class, "a");
      Vault other = stoa.get(Vault.class, "b");
      assertEquals(1, vault.add());
      assertEquals(1, other.add());
      assertEquals(32, vault.seal());
      Diverged told = awaitDiverged(vault, "a of 1");
      String text = String.valueOf(told.getMessage());
      assertTrue(text.contains("test.Vault[a] is quarantined"), text);
      assertTrue(text.contains("at version 2 (seal())"), text);
      assertEquals(2, other.add());

      String status = awaitStatus(two, "1 object in quarantine");
      assertTrue(status.contains("test.Vault[a]: its replicas came to different states"), status);
      assertTrue(status.contains("at version 2 (seal())"), status);

      stoa(0, "accept", "test.Vault[a]", "--server", two.address());
      assertEquals("a of 1", vault.name());
      assertEquals(2, vault.add());
      String refused = stoa(1, "accept", "test.Vault[a]", "--server", one.address());
      assertTrue(refused.contains("is not in quarantine"), refused);
      assertTrue(!stoa(0, "status", "--server", one.address()).contains("quarantine"));

      assertEquals(32, vault.seal());
      assertEquals(32, other.seal());
      awaitDiverged(vault, "a of 2");
      awaitDiverged(other, "b of 2");
      acceptAll(three);
      assertEquals(3, vault.add());
      assertEquals(3, other.add());
    }
  }

  private ServerProcess start(String name, List<String> options) throws Exception {
    var named = new ArrayList<>(List.of("--name", name));
    named.addAll(options);
    return ServerProcess.start(directory.resolve(name), named);
  }

  /// Accepts all objects; again when a group is without a leader, as the command says.
  private static void acceptAll(ServerProcess server) {
    var out = new PrintWriter(new StringWriter());
    while (Main.run(out, out, "accept", "--all", "--server", server.address()) != 0) {
      Thread.onSpinWait();
    }
  }

  /// The status of a server as soon as it contains some words. A leader that takes over lists no
  /// quarantines yet.
  private static String awaitStatus(ServerProcess server, String words) {
    while (true) {
      String status = stoa(0, "status", "--server", server.address());
      if (status.contains(words)) return status;
    }
  }

  /// Asks until it is in quarantine.
  private static Diverged awaitDiverged(Vault vault, String name) {
    while (true) {
      try {
        assertEquals(name, vault.name());
      } catch (Diverged told) {
        return told;
      }
    }
  }
}
