package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatusTest {
  @TempDir private Path directory;

  private static String status(ServerProcess server) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(0, Main.run(out, out, "status", "--server", server.address()), text::toString);
    return text.toString();
  }

  @Test
  void aServerThatIsLeftAloneDoesNotShowDeadOnesAsPresent() throws Exception {
    try (var one = start("one", List.of("--replicated", "--groups", "1"));
        var two = start("two", one.joining())) {
      while (!status(one).contains("0  one                      2 of 3          two\n"))
        Thread.onSpinWait();
      one.kill();
      String told = status(two);
      while (!told.contains("group 0 has no leader")) told = status(two);
      assertTrue(line(told, "one").contains("does not answer"), told);
      assertTrue(line(told, "two").contains(" answers "), told);
      assertTrue(told.contains("one (does not answer)"), told);
      assertTrue(told.contains("a group has no leader"), told);
      assertTrue(told.contains("--others-are-lost"), told);
    }
  }

  private static String line(String told, String server) {
    return told.lines()
        .filter(line -> line.strip().startsWith(server + " "))
        .findFirst()
        .orElse("");
  }

  private ServerProcess start(String name, List<String> options) throws Exception {
    var named = new ArrayList<>(List.of("--name", name));
    named.addAll(options);
    return ServerProcess.start(directory.resolve(name), named);
  }
}
