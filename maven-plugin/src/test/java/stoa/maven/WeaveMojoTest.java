package stoa.maven;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;
import org.apache.maven.plugin.MojoFailureException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WeaveMojoTest {
  @TempDir Path folder;

  @Test
  void weavesTheCompiledClassesOnce() throws Exception {
    Path file =
        compile(
            "Made",
            """
            import stoa.*;

            public class Made {
              @Shared(key = "id") public static class Space {
                final String id;
                Space(String id) { this.id = id; }
              }
              public static Space make() { return new Space("a"); }
            }
            """);
    byte[] before = Files.readAllBytes(file);
    new WeaveMojo(folder, libraries()).execute();
    byte[] woven = Files.readAllBytes(file);
    assertFalse(Arrays.equals(before, woven));
    new WeaveMojo(folder, libraries()).execute();
    assertArrayEquals(woven, Files.readAllBytes(file));
  }

  @Test
  void whatCannotBeWovenFailsTheBuildAndChangesNothing() throws Exception {
    Path file =
        compile(
            "Refused",
            """
            import java.util.*;
            import stoa.*;

            public class Refused {
              @Shared public static Set<String> set = new HashSet<>();
              @Shared public List<String> member = new ArrayList<>();
            }
            """);
    byte[] before = Files.readAllBytes(file);
    var failure =
        assertThrows(
            MojoFailureException.class, () -> new WeaveMojo(folder, libraries()).execute());
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("Refused.set"), message);
    assertTrue(message.contains("Refused.member"), message);
    assertArrayEquals(before, Files.readAllBytes(file));
  }

  @Test
  void aProjectWithoutClassesIsLeftAlone() throws Exception {
    new WeaveMojo(folder.resolve("classes"), libraries()).execute();
    assertFalse(Files.exists(folder.resolve("classes")));
  }

  private Path compile(String name, String source) throws Exception {
    Path file = Files.writeString(folder.resolve(name + ".java"), source);
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                file.toString());
    assertEquals(0, status);
    return folder.resolve(name + ".class");
  }

  private static List<Path> libraries() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(Path::of)
        .toList();
  }
}
