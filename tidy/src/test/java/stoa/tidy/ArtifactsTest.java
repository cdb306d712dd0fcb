package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// What programs outside this repository may depend on.
class ArtifactsTest {
  private static final Pattern VERSION = Pattern.compile("\n {2}<version>([^<]+)</version>");

  private final Repository repository = Repository.here();

  @Test
  void theBomHasEveryModuleThatIsInstalled() {
    var installed = new TreeSet<String>();
    for (var module : repository.modules()) {
      String pom = pom(module.folder());
      if (pom.contains("<maven.install.skip>")) {
        assertTrue(pom.contains("<maven.deploy.skip>"), module + " would be deployed");
        continue;
      }
      assertTrue(
          pom.contains("<name>stoa-" + module.name() + "</name>"),
          module + " needs <name>stoa-" + module.name() + "</name>, as repositories ask for one");
      // Builds name plugins with their version.
      boolean plugin = pom.contains("<packaging>maven-plugin</packaging>");
      if (!plugin && !module.name().equals("bom")) installed.add(module.name());
    }
    assertEquals(installed, new TreeSet<>(Arrows.dependencies(pom(Path.of("bom")))));
  }

  @Test
  void versionsThatArePutDownTwiceAreTheSame() {
    String version = version(pom(Path.of("")));
    assertEquals(version, version(pom(Path.of("bom"))));
    for (String file :
        List.of(
            "cli/src/main/java/stoa/cli/NewCommand",
            "node/src/main/java/stoa/node/SingleAnswers")) {
      assertTrue(
          repository.text(Path.of(file + ".java")).contains("VERSION = \"" + version + "\""), file);
    }
  }

  private String pom(Path folder) {
    return repository.text(folder.resolve("pom.xml"));
  }

  private static String version(String pom) {
    var found = VERSION.matcher(pom);
    assertTrue(found.find(), "no version");
    return found.group(1);
  }
}
