package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The same seeds in two processes: hash salts, identity hashes and addresses differ, traces must
/// not.
class TwoJvmsTest {
  private static Process start(String heap) throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-Djdk.trackAllThreads=false",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-ea",
            heap,
            "-cp",
            System.getProperty("java.class.path"),
            Campaign.class.getName(),
            "--seeds",
            "1-1",
            "--digests"));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static String output(Process process) throws Exception {
    var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), text);
    return text;
  }

  @Test
  void theSameSeedsGiveTheSameTracesInTwoProcesses() throws Exception {
    var one = start("-Xmx256m");
    var other = start("-Xmx512m");
    String first = output(one);
    assertEquals(first, output(other));
    for (var scenario : Scenarios.ALL) {
      assertTrue(first.contains(scenario.name() + " 1 "), first);
    }
  }
}
