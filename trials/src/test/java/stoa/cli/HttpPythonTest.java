package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// The tests of the Python client, against a server of this process. They need Python 3.9 or later.
class HttpPythonTest {
  @Test
  void theTestsOfThePythonClientPass() throws Exception {
    Path folder = Path.of("..", "python").toRealPath();
    try (var server = HttpShopServer.open()) {
      var builder =
          new ProcessBuilder("python3", "-m", "unittest", "discover", "-s", "tests")
              .directory(folder.toFile())
              .redirectErrorStream(true);
      builder.environment().put("PYTHONPATH", folder.resolve("src").toString());
      builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
      builder.environment().put("STOA_TEST_URL", server.url());
      Process process;
      try {
        process = builder.start();
      } catch (IOException missing) {
        throw new IllegalStateException(
            "python3 is not here; install Python 3.9 or later, which ./stoa test needs", missing);
      }
      String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(0, process.waitFor(), told);
      assertTrue(told.contains("Ran 11 tests"), told);
    }
  }
}
