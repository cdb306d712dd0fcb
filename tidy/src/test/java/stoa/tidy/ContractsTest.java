package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The two lists of suites in `contracts`: those that run at a server, and those that run over
/// three groups.
class ContractsTest {
  private static final Pattern SERVED = Pattern.compile("<testInclude>.*/(\\w+Test)\\.java<");
  private static final Pattern GROUPED = Pattern.compile("<test>([\\w,]+)</test>");

  @Test
  void everySuiteRunsAtAServerAndOverThreeGroups() {
    String pom = Repository.here().text(Path.of("contracts/pom.xml"));
    Collection<String> served = new TreeSet<>();
    SERVED.matcher(pom).results().forEach(suite -> served.add(suite.group(1)));
    Matcher grouped = GROUPED.matcher(pom);
    assertTrue(grouped.find(), "contracts/pom.xml lists no suites for three groups");
    assertEquals(served, new TreeSet<>(List.of(grouped.group(1).split(","))));
  }
}
