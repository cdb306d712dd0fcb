package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.weave.UserClasses;

/// Woven users' classes: `new` of a class with a key, and static fields, are shared.
@Timeout(value = 300, threadMode = ThreadMode.SAME_THREAD) // the thread has the class loader
class WovenTest {
  private static final String SOURCE =
      """
      package users;

      import java.util.*;
      import java.util.function.*;
      import stoa.*;

      public class Cloud {
        @Shared static Map<String, Workspace> workspaces = new HashMap<>();
        @Shared(key = "log") static List<String> log;
        @Shared static Deque<Integer> stack;
        @Shared static NavigableMap<Integer, String> sorted;

        @Shared(name = "users.Workspace", key = "id")
        public static class Workspace {
          private final String id;
          private final String owner;
          private final List<String> files = new ArrayList<>();
          private Workspace parent;

          protected Workspace(String id, String owner) {
            if (owner.isEmpty()) throw new IllegalArgumentException(id + " has no owner");
            this.id = id;
            this.owner = owner;
          }

          protected Workspace(int number) {
            this.id = "number " + number;
            this.owner = "nobody";
          }

          public int add(String file) { files.add(file); return files.size(); }
          @Accessor public int size() { return files.size(); }
          @Accessor public String owner() { return owner; }
          @Accessor public Workspace parent() { return parent; }
          @Accessor public int sizeOf(String other) { return new Workspace(other, owner).size(); }

          public int below(String above) {
            parent = new Workspace(above, owner);
            return parent.add("child " + id);
          }

          public int enter() {
            workspaces.put(id, this);
            log.add("entered " + id);
            stack.push(workspaces.size());
            return stack.peek();
          }

          public String opened() {
            Map<String, Integer> counts = Call.map("counts", String.class, Integer.class);
            counts.merge(id, 1, Integer::sum);
            List<String> names = Call.list("names", String.class);
            names.add(id);
            return counts.get(id) + " " + names.size();
          }

          @Accessor public int known() { return workspaces.size(); }
        }

        public static String same() {
          Workspace one = new Workspace("a", "olga");
          one.add("x");
          new Workspace("a", "other").add("y");
          Function<Integer, Workspace> numbered = Workspace::new;
          numbered.apply(7).add("z");
          return one.equals(new Workspace("a", "olga")) + " " + one.size() + " " + one.owner()
              + " " + new Workspace(7).size() + " " + new Workspace(7).owner();
        }

        public static String inside() {
          Workspace child = new Workspace("child", "olga");
          int children = child.below("top");
          new Workspace("top", "olga").add("own");
          return children + " " + child.parent().size() + " " + child.sizeOf("top")
              + " " + child.parent().equals(new Workspace("top", "x"));
        }

        public static String fields() {
          int first = new Workspace("f1", "olga").enter();
          int second = new Workspace("f2", "olga").enter();
          workspaces.get("f1").add("through the map");
          sorted.put(2, "two");
          sorted.put(1, "one");
          return first + " " + second + " " + log + " " + new Workspace("f1", "olga").size()
              + " " + new Workspace("f2", "olga").known() + " " + sorted.firstEntry();
        }

        public static String opened() {
          Workspace one = new Workspace("o", "olga");
          return one.opened() + ", " + one.opened();
        }

        public static String left() {
          return new Workspace("a", "olga").size() + " " + workspaces.keySet().size() + " " + log.size()
              + " " + new Workspace("child", "olga").parent().size();
        }

        public static String rolledBack(Stoa stoa) {
          try {
            stoa.transact(() -> {
              new Workspace("t", "olga").add("x");
              workspaces.put("t", new Workspace("t", "olga"));
              throw new IllegalStateException("back");
            });
          } catch (IllegalStateException back) {
            // as it should
          }
          stoa.transact(() -> {
            new Workspace("t", "olga").add("y");
            log.add("t " + new Workspace("t", "olga").size());
          });
          return new Workspace("t", "olga").size() + " " + workspaces.containsKey("t") + " " + log;
        }

        public static String invalid() {
          return new Workspace("i", "").owner();
        }
      }
      """;

  @TempDir private static Path folder;

  @TempDir private Path data;

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private final UserClasses classes =
      UserClasses.open(
          List.of(folder),
          unwoven -> {
            throw new AssertionError(unwoven);
          });

  @BeforeAll
  static void compile() throws IOException {
    Path file = Files.writeString(folder.resolve("Cloud.java"), SOURCE);
    var compiler = ToolProvider.getSystemJavaCompiler();
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      var options =
          List.of(
              "-proc:none", "-cp", System.getProperty("java.class.path"), "-d", folder.toString());
      assertTrue(
          compiler
              .getTask(null, files, null, options, null, files.getJavaFileObjects(file))
              .call());
    }
  }

  @BeforeEach
  @Timeout(value = 300, threadMode = ThreadMode.SAME_THREAD)
  void usesTheUsersClasses() {
    Thread.currentThread().setContextClassLoader(classes);
  }

  @AfterEach
  @Timeout(value = 300, threadMode = ThreadMode.SAME_THREAD)
  void letsGoOfThem() throws IOException {
    Thread.currentThread().setContextClassLoader(before);
    classes.close();
  }

  private static Stoa bound(String url) {
    Stoa stoa = Stoa.open(url);
    stoa.bind();
    return stoa;
  }

  private Object run(String method, Object... arguments) {
    try {
      Class<?> program = Class.forName("users.Cloud", true, classes);
      return arguments.length == 0
          ? program.getMethod(method).invoke(null)
          : program.getMethod(method, Stoa.class).invoke(null, arguments);
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof RuntimeException cause) throw cause;
      throw new AssertionError(thrown.getCause());
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("no such method of the program", e);
    }
  }

  @Test
  void newIsTheSharedObjectOfItsKey() {
    try (Stoa _ = bound("memory:")) {
      assertEquals("true 2 olga 1 nobody", run("same"));
    }
  }

  @Test
  void newInAMethodIsTheSharedObjectOfTheSameStore() {
    try (Stoa _ = bound("memory:")) {
      assertEquals("1 2 2 true", run("inside"));
    }
  }

  @Test
  void staticFieldsAreSharedCollectionsInsideOfMethodsAndOutside() {
    try (Stoa stoa = bound("memory:")) {
      assertEquals("1 2 [entered f1, entered f2] 1 2 1=one", run("fields"));
      assertEquals(
          List.of("entered f1", "entered f2"), List.copyOf(stoa.list("log", String.class)));
      assertEquals(2, stoa.navigableMap("users.Cloud.sorted", Integer.class, String.class).size());
    }
  }

  @Test
  void methodsOpenCollectionsByName() {
    try (Stoa stoa = bound("memory:")) {
      assertEquals("1 1, 2 2", run("opened"));
      assertEquals(2, stoa.map("counts", String.class, Integer.class).get("o"));
      assertThrows(
          IllegalArgumentException.class, () -> stoa.map("counts", String.class, String.class));
    }
  }

  @Test
  void everythingIsThereAfterReopening() {
    String url = "file:" + data;
    try (Stoa _ = bound(url)) {
      var _ = run("same");
      var _ = run("inside");
      var _ = run("fields");
    }
    try (Stoa _ = bound(url)) {
      assertEquals("2 2 2 2", run("left"));
      assertEquals("true 4 olga 2 nobody", run("same"));
    }
  }

  @Test
  void transactionsTakePart() {
    try (Stoa stoa = bound("memory:")) {
      assertEquals("1 false [t 1]", run("rolledBack", stoa));
    }
  }

  @Test
  void argumentsThatTheConstructorRefusesFailAtNew() {
    try (Stoa _ = bound("memory:")) {
      var refused = assertThrows(IllegalArgumentException.class, () -> run("invalid"));
      assertEquals("i has no owner", refused.getMessage());
    }
  }

  @Test
  void oneStoreIsBoundUntilItCloses() {
    assertThrows(IllegalStateException.class, () -> run("same"));
    try (Stoa first = bound("memory:");
        Stoa second = Stoa.open("memory:")) {
      first.bind();
      var refused = assertThrows(IllegalStateException.class, second::bind);
      assertTrue(String.valueOf(refused.getMessage()).startsWith("another open store is bound"));
    }
    var unbound = assertThrows(IllegalStateException.class, () -> run("same"));
    assertTrue(
        String.valueOf(unbound.getMessage()).contains("users.Cloud$Workspace \"a\" is in a store"));
    try (Stoa stoa = bound("memory:")) {
      assertInstanceOf(String.class, run("same"));
      stoa.bind();
    }
  }
}
