package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.objects.Program.call;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.front.code.CodeVersion;
import stoa.weave.UserClasses;
import stoa.weave.WeaveDirectories;

/// Woven and unwoven code of the same sources are two versions, and the store keeps them apart.
class WovenCodeTest {
  private static final String SPACE =
      """
      @Shared(name = "Space", key = "id") public class Space {
        final String id; final List<String> files = new ArrayList<>(); int counted;
        Space(String id) { this.id = id; }
        void add(String file) { files.add(file); }
        @Accessor int size() { return files.size(); }
        int count(String other) { counted += new Space(other).size(); return counted; }
        @Accessor int counted() { return counted; }
      }
      """;

  private static final String NUMBERED =
      """
      @Shared(name = "Numbered", key = "id") public class Numbered {
        final String id; private final int number; private Numbered next;
        Numbered(int number, String prefix) { this.id = prefix + number; this.number = number; }
        int number() { return number; }
        int next(String prefix) { next = new Numbered(number + 1, prefix); return next.number(); }
      }
      """;

  private static final String FIELD =
      """
      @Shared(name = "Fielded") public class Fielded {
        @Shared static Map<String, String> all = new HashMap<>();
        int size() { return all.size(); }
      }
      """;

  private static final String MEMBER =
      """
      @Shared(name = "Membered") public class Membered {
        @Shared Map<String, String> all = new HashMap<>();
        int size() { return all.size(); }
      }
      """;

  @TempDir private Path folder;

  private Program woven(String... sources) {
    Path directory = folder.resolve("woven");
    var program = new Program(directory, sources);
    try {
      var report = WeaveDirectories.weave(List.of(directory), List.of());
      assertEquals(List.of(), report.refusals());
      assertEquals(List.of(directory.resolve("v/" + name(sources[0]) + ".class")), report.woven());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return program;
  }

  private static String text(Exception refused) {
    return String.valueOf(refused.getMessage());
  }

  private static String name(String source) {
    return source.replaceAll("(?s).*?public class (\\w+).*", "$1");
  }

  private Stoa open() {
    return Stoa.open("file:" + folder.resolve("data"));
  }

  private static Object space(Program program, Stoa stoa, String key) {
    return stoa.get(program.type("Space"), key);
  }

  @Test
  void callsStayWithTheCodeThatExecutedThemWhenAProgramIsWovenLater() {
    var plain = new Program(folder.resolve("plain"), SPACE);
    plain.run(() -> {
      try (Stoa stoa = open()) {
        var _ = call(space(plain, stoa, "a"), "add", "x");
        assertEquals(0, call(space(plain, stoa, "b"), "count", "a"));
        return null;
      }
    });
    var woven = woven(SPACE);
    woven.run(() -> {
      try (Stoa stoa = open()) {
        Object b = space(woven, stoa, "b");
        assertEquals(0, call(b, "counted"));
        assertEquals(1, call(b, "count", "a"));
        assertEquals(0, call(stoa.history(b).at(1), "counted"));
        return null;
      }
    });
    plain.run(() -> {
      try (Stoa stoa = open()) {
        Object b = space(plain, stoa, "b");
        assertEquals(1, call(b, "count", "a"));
        long last = stoa.history(b).version();
        assertEquals(1, call(stoa.history(b).at(last), "counted"));
        return null;
      }
    });
  }

  @Test
  void wovenByABuildAndAtLoadingAreTheSameVersion() throws Exception {
    var plain = new Program(folder.resolve("plain"), SPACE);
    var woven = woven(SPACE);
    try (var users =
        UserClasses.open(
            List.of(folder.resolve("plain")),
            unwoven -> {
              throw new AssertionError(unwoven);
            })) {
      var atLoading = CodeVersion.of(users.loadClass("v.Space"));
      assertEquals(CodeVersion.of(woven.type("Space")).name(), atLoading.name());
      assertNotEquals(CodeVersion.of(plain.type("Space")).name(), atLoading.name());
    }
  }

  @Test
  void theKeyIsReadFromItsFieldWhereverTheConstructorHasItFrom() {
    var program = woven(NUMBERED);
    program.run(() -> {
      try (Stoa stoa = open()) {
        Object first = stoa.get(program.type("Numbered"), "n1", 1, "n");
        assertEquals(2, call(first, "next", "n"));
        assertEquals(2, call(stoa.find(program.type("Numbered"), "n2").orElseThrow(), "number"));
        return null;
      }
    });
  }

  @Test
  void anUnwovenNewIsWarnedOfOnceAndAnUnwovenFieldIsRefused() {
    var said = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      var plain = new Program(folder.resolve("plain"), SPACE, FIELD, MEMBER);
      plain.run(() -> {
        try (Stoa stoa = Stoa.open("memory:")) {
          var _ = call(space(plain, stoa, "a"), "add", "x");
          call(space(plain, stoa, "b"), "count", "a");
          var refused =
              assertThrows(NotShareable.class, () -> stoa.get(plain.type("Fielded"), "f"));
          assertTrue(text(refused).contains("reads v.Fielded.all, which is annotated"));
          var member =
              assertThrows(NotShareable.class, () -> stoa.get(plain.type("Membered"), "m"));
          assertTrue(text(member).startsWith("v.Membered.all is annotated with @Shared and"));
          return null;
        }
      });
    } finally {
      System.setErr(before);
    }
    String warning =
        "v.Space.count(java.lang.String) is not woven: its new v.Space makes an ordinary object";
    String all = said.toString(StandardCharsets.UTF_8);
    assertEquals(2, all.split(java.util.regex.Pattern.quote(warning), -1).length, all);
  }
}
