package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.programs.ChildProcess;

/// The commands and programs of `docs/guide/http.md`, run as they stand there. They need curl and
/// Python.
class HttpPageTest {
  private static final Pattern JAVA =
      Pattern.compile("^```java\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Pattern PYTHON =
      Pattern.compile("^```python\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Pattern COMMAND =
      Pattern.compile("^ {4}\\$ (curl .*)\n((?: {4}(?!\\$ ).*\n)*)", Pattern.MULTILINE);
  private static final String ADDRESS = "127.0.0.1:9464";

  @TempDir private Path folder;

  private static String first(Pattern pattern, String page) {
    var found = pattern.matcher(page);
    assertTrue(found.find(), "the page has no " + pattern);
    return found.group(1);
  }

  private static String run(ProcessBuilder command) throws IOException, InterruptedException {
    Process process = command.redirectErrorStream(true).start();
    String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), told);
    return told;
  }

  @Test
  void theCommandsPrintWhatThePageSays() throws Exception {
    Path root = Path.of("..").toRealPath();
    String page = Files.readString(root.resolve("docs/guide/http.md"));
    Path source = Files.writeString(folder.resolve("Bank.java"), first(JAVA, page));
    Path classes = folder.resolve("classes");
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-d",
                classes.toString(),
                "-cp",
                ChildProcess.classPath(),
                source.toString());
    assertEquals(0, compiled, "the program does not compile");
    List<String> options = List.of("--http", "0", "--classpath", classes.toString());
    try (var server = ServerProcess.start(folder.resolve("data"), options)) {
      var commands = COMMAND.matcher(page);
      int count = 0;
      for (; commands.find(); count++) {
        String command = commands.group(1).replace(ADDRESS, server.http());
        String expected = commands.group(2).replaceAll("(?m)^ {4}", "");
        assertEquals(expected, run(new ProcessBuilder("sh", "-c", command)), command);
      }
      assertTrue(count > 8, "only " + count + " commands");
      Path program = Files.writeString(folder.resolve("bank.py"), first(PYTHON, page));
      var python = new ProcessBuilder("python3", program.toString());
      python.environment().put("STOA_URL", "http://" + server.http());
      python.environment().put("PYTHONPATH", root.resolve("python/src").toString());
      python.environment().put("PYTHONDONTWRITEBYTECODE", "1");
      assertEquals("version 1\n[None, 20]\n30 50 2\nthere are only 30\n", run(python));
    }
  }
}
