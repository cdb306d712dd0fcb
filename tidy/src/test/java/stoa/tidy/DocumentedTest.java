package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DocumentedTest {
  @TempDir Path folder;

  @Test
  void acceptsWhatIsDocumentedOrNotPublic() throws IOException {
    assertEquals(
        List.of(),
        problems(
            """
            /// A thing.
            public final class Thing implements Runnable {
              public Thing() {}
              @Override public void run() {}
              void hidden() {}
              private record Inner(int a) {}
              /** A part. */
              public record Part(int size) {
                public Part {}
                /// More of it.
                public Part more() { return this; }
              }
            }
            class Helper { public void any() {} }
            """));
  }

  @Test
  void findsTypesAndMethods() throws IOException {
    assertEquals(
        List.of(
            "the public type Thing has no Javadoc",
            "the public method Thing.run has no Javadoc",
            "the public type Thing.Part has no Javadoc"),
        problems(
            """
            // Not a Javadoc.
            public final class Thing {
              public void run() {}
              public enum Part { A }
            }
            """));
  }

  @Test
  void findsMembersOfInterfacesThatArePublicUnsaid() throws IOException {
    assertEquals(
        List.of(
            "the public method Thing.run has no Javadoc", "the public type Thing.A has no Javadoc"),
        problems("/// A thing.\npublic interface Thing { void run(); record A() {} }\n"));
  }

  @Test
  void looksAtExportedPackagesOnly() throws IOException {
    Samples.write(folder.resolve("p/src/main/java/p/inner/Other.java"), "public class Other {}");
    assertEquals(List.of(), problems("class Thing {}"));
  }

  private List<String> problems(String source) throws IOException {
    Samples.write(folder.resolve("pom.xml"), "<module>p</module>");
    Samples.write(
        folder.resolve("p/src/main/java/module-info.java"), "module p {\n  exports p;\n}\n");
    Samples.write(folder.resolve("p/src/main/java/p/Thing.java"), "package p;\n" + source);
    return Documented.problems(new Repository(folder));
  }
}
