package stoa.store.ordering;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// TLC, the model checker of TLA+, searches all runs of the specification of the commit protocol in
/// two small worlds. It finds a run that goes wrong when any rule is broken. TLC runs in a process
/// of its own.
class SpecificationTest {
  private static final Pattern STATES = Pattern.compile("(\\d+) distinct states found, 0 states");
  private static final Pattern BROKEN = Pattern.compile("Invariant (\\w+) is violated");

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"Disjoint, 10000", "Meeting, 10000"})
  void everythingHoldsWhateverIsReplaced(String world, long statesMin) throws Exception {
    String output = check(world, "none");
    Matcher states = STATES.matcher(output);
    assertTrue(output.contains("No error has been found") && states.find(), output);
    assertTrue(Long.parseLong(states.group(1)) >= statesMin, output);
  }

  @ParameterizedTest
  @CsvSource({
    "Disjoint, a store that owes parts gets addresses, Ascends",
    "Disjoint, claimed keys get other entries, NothingBetween",
    "Meeting, claims do not exclude, ReadsThePresent",
    "Disjoint, owners change while a decision is logged, ReadsThePresent",
    "Disjoint, parts come in any order, Ascends",
    "Disjoint, readers as of an address do not wait, ReadsAsOf",
    "Disjoint, readers do not wait for claims, ReadsThePresent",
    "Disjoint, readers of home come first, ReadsAsOf",
    "Disjoint, votes outlive their owner, ReadsThePresent",
  })
  void aBrokenRuleIsFound(String world, String fault, String broken) throws Exception {
    String output = check(world, fault);
    Matcher found = BROKEN.matcher(output);
    assertTrue(found.find(), output);
    assertEquals(broken, found.group(1));
  }

  @Test
  void everyRuleIsBrokenOnce() throws Exception {
    var named =
        Pattern.compile("Fault = \"([^\"]+)\"")
            .matcher(resource("OneOrder.tla"))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    var method =
        SpecificationTest.class.getDeclaredMethod(
            "aBrokenRuleIsFound", String.class, String.class, String.class);
    var broken = new TreeSet<String>();
    for (String line : Objects.requireNonNull(method.getAnnotation(CsvSource.class)).value()) {
      broken.add(line.split(", ", -1)[1]);
    }
    assertEquals(broken, named);
  }

  private String check(String world, String fault) throws Exception {
    for (String module : List.of("OneOrder.tla", "Worlds.tla")) {
      Files.writeString(folder.resolve(module), resource(module));
    }
    String settings = resource(world + ".cfg").replace("\"none\"", '"' + fault + '"');
    Files.writeString(folder.resolve("World.cfg"), settings);
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It ends within seconds: compiling to the full would only cost time.
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m"));
    command.addAll(List.of("-Djava.io.tmpdir=" + folder, "-cp", checker().toString(), "tlc2.TLC"));
    // A world that has come to its bounds stands still, which is no deadlock.
    command.addAll(List.of("-workers", "1", "-deadlock", "-metadir", "states"));
    command.addAll(List.of("-config", "World.cfg", "Worlds.tla"));
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
    return Files.readString(output);
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = SpecificationTest.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /// Returns where the class path has TLC.
  private static Path checker() throws ClassNotFoundException, URISyntaxException {
    var type = Class.forName("tlc2.TLC", false, SpecificationTest.class.getClassLoader());
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
