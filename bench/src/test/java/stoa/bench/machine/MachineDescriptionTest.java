package stoa.bench.machine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineDescriptionTest {
  @Test
  void namesProcessorsAndJavaInOneLine(@TempDir Path folder) throws IOException {
    String machine = MachineDescription.describe(folder);
    assertTrue(machine.startsWith(Runtime.getRuntime().availableProcessors() + " x "), machine);
    assertTrue(machine.contains("Java " + Runtime.version()), machine);
    assertTrue(machine.lines().count() == 1, machine);
  }
}
