package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;

/// Code that reaches beyond the objects of the store, on its way into a server.
class StrictDeployTest {
  private static final String SPY =
      """
      @Shared(name = "spy")
      public class Spy {
        private int looks;
        public int look() throws java.io.IOException {
          try (var out = new java.io.PrintStream("spied")) {
            return ++looks;
          }
        }
      }
      """;

  private static final String PLAIN =
      """
      @Shared(name = "plain")
      public class Plain {
        private int looks;
        public int look() {
          return ++looks;
        }
      }
      """;

  private static String stoa(int exitCode, String... arguments) {
    var said = new StringWriter();
    var out = new PrintWriter(said);
    assertEquals(exitCode, Main.run(out, out, arguments), said::toString);
    return said.toString();
  }

  @Test
  void aServerRefusesSuchCodeUnlessAnOperatorTrustsIt(@TempDir Path directory) throws Exception {
    Build spy = new Build(directory.resolve("spy"), SPY);
    Build plain = new Build(directory.resolve("plain"), PLAIN);
    var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
    var config = ServerConfig.of("127.0.0.1", 0).withClientClasses();
    try (Server server = Server.start(config, service)) {
      String address = "127.0.0.1:" + server.port();
      assertEquals("plain  new\n", stoa(0, "deploy", plain.path(), "--server", address));
      String refused = stoa(1, "deploy", spy.path(), "--server", address);
      assertTrue(refused.contains("spy  REFUSED"), refused);
      assertTrue(refused.contains("v.Spy.look() creates a java.io.PrintStream"), refused);
      assertTrue(refused.contains("--trusted-code"), refused);
      // A client that brings such code is refused, too.
      String brought =
          spy.client(
              "stoa://" + address,
              stoa -> {
                var told = assertThrows(NotShareable.class, () -> spy.object(stoa, "Spy", "one"));
                return String.valueOf(told.getMessage());
              });
      assertTrue(brought.contains("v.Spy.look() creates a java.io.PrintStream"), brought);
      String checked = stoa(1, "check", "--classpath", spy.path(), "--server", address);
      assertTrue(checked.contains("creates a java.io.PrintStream"), checked);
      assertEquals(
          "spy  new\n", stoa(0, "deploy", spy.path(), "--trusted-code", "--server", address));
      // The store has it now.
      assertEquals("spy  same\n", stoa(0, "deploy", spy.path(), "--server", address));
      String audit = stoa(0, "audit", "--server", address);
      assertEquals(5, audit.lines().count(), audit);
      assertTrue(audit.contains("bring spy  NOT DONE: v.Spy.look() creates"), audit);
      assertTrue(audit.contains("deploy spy  NOT DONE: spy: v.Spy.look()"), audit);
      assertTrue(audit.contains("deploy spy as trusted code\n"), audit);
      String json = stoa(0, "audit", "--server", address, "--json", "--max", "1");
      assertTrue(json.contains("\"command\": \"deploy spy\""), json);
      assertTrue(json.contains("\"outcome\": \"done\""), json);
    }
  }
}
