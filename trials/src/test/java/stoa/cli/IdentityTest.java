package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.node.access.Identities;
import stoa.node.access.Proof;

class IdentityTest {
  private static List<String> made(int exitCode, String... options) {
    var said = new StringWriter();
    var out = new PrintWriter(said);
    var all = new String[options.length + 1];
    all[0] = "identity";
    System.arraycopy(options, 0, all, 1, options.length);
    assertEquals(exitCode, Main.run(out, out, all), said::toString);
    return said.toString().lines().toList();
  }

  @Test
  void makesATokenAndTheLinesOfItsIdentity() {
    var lines = made(0, "shop", "--may", "call,create", "--on", "shop.*", "--until", "2027-01-31");
    assertEquals(3, lines.size());
    String token = lines.get(0).replace("# token of shop: ", "");
    assertEquals(43, token.length());
    assertEquals("shop token " + Proof.token(token).hash() + " until 2027-01-31", lines.get(1));
    assertEquals("shop may call,create on shop.*", lines.get(2));
    assertEquals(1, Identities.parse(String.join("\n", lines), "FILE").count());
    assertNotEquals(lines.get(1), made(0, "shop").get(1));
    assertEquals(2, made(0, "shop").size());
  }

  @Test
  void refusesWhatAServerWouldRefuse() {
    assertTrue(made(1, "shop", "--may", "fly").getFirst().contains("there is no role fly"));
    assertTrue(made(1, "a shop", "--may", "read").getFirst().contains("a"));
    assertTrue(made(1, "shop", "--until", "soon").getFirst().contains("soon is no date"));
    assertTrue(made(1, "shop", "--on", "a.B").getFirst().contains("give both"));
  }
}
