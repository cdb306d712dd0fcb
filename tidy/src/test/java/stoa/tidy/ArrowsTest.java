package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArrowsTest {
  private static final Map<String, Set<String>> ALLOWED =
      Map.of("low", Set.of(), "high", Set.of("low"));

  @TempDir Path folder;

  @Test
  void acceptsAnArrowDownwards() throws IOException {
    assertEquals(List.of(), Arrows.problems(sample("", dependency("low", "")), ALLOWED));
  }

  @Test
  void refusesAnArrowUpwards() throws IOException {
    assertEquals(
        List.of("low depends on high, which is not below it"),
        Arrows.problems(sample(dependency("high", ""), ""), ALLOWED));
  }

  @Test
  void letsTestsStandAboveTheirLayer() throws IOException {
    var sample = sample(dependency("high", "<scope>test</scope>"), "");
    assertEquals(List.of(), Arrows.problems(sample, ALLOWED));
  }

  @Test
  void refusesForTestsAloneWhatAModuleBelowRunsWith() throws IOException {
    String library =
        "<dependency><groupId>g</groupId><artifactId>parser</artifactId>%s</dependency>";
    String tested = dependency("low", "") + library.formatted("<scope>test</scope>");
    assertEquals(
        List.of(
            "high has parser for its tests alone, but low runs with it; give it the scope runtime"),
        Arrows.narrowed(sample(library.formatted(""), tested)));
    String runtime = dependency("low", "") + library.formatted("<scope>runtime</scope>");
    assertEquals(List.of(), Arrows.narrowed(sample(library.formatted(""), runtime)));
  }

  @Test
  void refusesAModuleWithoutAPlace() throws IOException {
    assertEquals(
        List.of("high has no place among the layers; give it one in Arrows"),
        Arrows.problems(sample("", ""), Map.of("low", Set.of())));
  }

  @Test
  void findsAPomThatTheBuildForgets() throws IOException {
    var sample = sample("", "");
    Samples.write(folder.resolve("lost/pom.xml"), "<project/>");
    assertEquals(
        List.of("lost/pom.xml belongs to no module of the root's list"), Arrows.strays(sample));
  }

  private Repository sample(String low, String high) throws IOException {
    Samples.write(folder.resolve("pom.xml"), "<module>low</module>\n<module>apps/high</module>\n");
    Samples.write(folder.resolve("low/pom.xml"), "<project>" + low + "</project>");
    Samples.write(folder.resolve("apps/high/pom.xml"), "<project>" + high + "</project>");
    return new Repository(folder);
  }

  private static String dependency(String module, String more) {
    return "<dependency><groupId>dev.stoa</groupId>\n<artifactId>stoa-%s</artifactId>%s</dependency>"
        .formatted(module, more);
  }
}
