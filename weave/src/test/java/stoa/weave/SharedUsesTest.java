package stoa.weave;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;
import stoa.spi.CallContext;

@Timeout(120)
class SharedUsesTest {
  private static final String SPACE =
      """
      import java.util.*;
      import java.util.function.*;
      import stoa.Shared;

      public class Uses {
        @Shared(name = "Space", key = "id")
        public static class Space {
          final String id;
          final List<Object> rest;
          protected Space(String id, Object... rest) { this.id = id; this.rest = List.of(rest); }
        }

        @Shared(name = "Second", key = "id")
        public static class Second {
          final String id;
          Second(int count, String id) { this.id = id; }
          Second(String id) { this.id = id; }
        }

        @Shared(key = "id")
        public static class Vague {
          final String id;
          Vague(int count, String id) { this.id = id; }
          Vague(Object id) { this.id = "object"; }
          Vague(String id) { this.id = id; }
          Vague(String id, Object... rest) { this.id = id; }
        }

        @Shared(key = "id")
        public static class Sub extends Space {
          Sub(String id) { super(id + "!"); }
        }

        public static class Plain {
          final Object a; final Object b;
          Plain(Object a, Object b) { this.a = a; this.b = b; }
        }

        @Shared(name = "Keyless") public static class Keyless { }

        class Inner {
          Object make() { return new Space("inner"); }
        }

        Object made = new Space("field");
        Uses() { this(new Space("argument of this")); }
        Uses(Object given) { made = given; }

        static int parse(String text) throws Exception {
          if (text.isEmpty()) throw new Exception("empty");
          return text.length();
        }

        public static Object simple() { return new Space("a", 1, 2L); }
        public static Object nested() { return new Space("a", new Space("b"), new Plain(new Space("c"), 1)).rest(); }
        public static Object ternary(boolean one) { return new Space(one ? "one" : "two", one ? new Space("x") : null); }
        public static Object caught(String text) {
          return new Plain(new Space("before"), new Space("caught", 7L, switch (text.length()) {
            case 3 -> 3;
            default -> {
              try { yield parse(text); }
              catch (Exception e) { yield new Space("in catch"); }
              finally { text = null; }
            }
          }));
        }
        public static Object thrown(int i) {
          return new Space(switch (i) { case 0 -> "zero"; case 1 -> throw new IllegalStateException("one"); default -> "many"; });
        }
        public static Object lambda() { Supplier<Space> s = () -> new Space("lambda"); return s.get(); }
        public static Object reference() {
          BiFunction<Integer, String, Second> f = Second::new;
          Function<String, Sub> g = Sub::new;
          BiFunction<Integer, String, Second> h = Second::new;
          return List.of(f.apply(1, "r1"), g.apply("r2"), h.apply(3, "r3"));
        }
        public static Object second() { return new Second(5, "second"); }
        public static Object vagueNumber() { return new Vague(5, "v"); }
        public static Object vagueObject() { return new Vague((Object) "v"); }
        public static Object string() { return new Vague("v"); }
        public static Object inner() { return new Uses().new Inner().make(); }
        public static Object thisCall() { return new Uses().made; }
        public static Object sub() { return new Sub("s"); }
        public static Object anonymous() { return new Space("anonymous") { }; }
        public static Object plain() { return new Plain(new Keyless(), 2); }
        public static Object unused() { new Space("unused"); return "done"; }
        public static Object loop() {
          var all = new ArrayList<Object>();
          for (int i = 0; i < 3; i++) { if (i == 1) continue; all.add(new Space("l" + i)); }
          return all;
        }
        public static Object wide(long a, double b) { return new Space("w", a, b, new Space("v", b)); }
      }
      """;

  @TempDir private Path folder;

  /// A context whose objects are named, not made.
  private static final class Named implements CallContext {
    private final List<String> asked = new ArrayList<>();
    private final Map<String, Object> plain = new HashMap<>();

    @Override
    public Instant now() {
      return Instant.EPOCH;
    }

    @Override
    public RandomGenerator random() {
      return RandomGenerator.getDefault();
    }

    @Override
    public long version() {
      return 0;
    }

    @Override
    public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
      String name = type.getSimpleName() + " " + key;
      asked.add(name + " " + args.length);
      return type.cast(plain.computeIfAbsent(name, _ -> instance(type)));
    }

    /// An instance that no constructor of the class has seen.
    private static Object instance(Class<?> type) {
      try {
        var constructor =
            Arrays.stream(type.getDeclaredConstructors())
                .filter(one -> one.isVarArgs() || one.getParameterCount() == 1)
                .findFirst()
                .orElseThrow();
        constructor.setAccessible(true);
        return constructor.isVarArgs()
            ? constructor.newInstance("shared", new Object[0])
            : constructor.newInstance("shared");
      } catch (ReflectiveOperationException failed) {
        throw new LinkageError(type + " cannot be made", failed);
      }
    }
  }

  private static void never(String refusal) {
    throw new AssertionError(refusal);
  }

  private static List<String> problems(byte[] classFile) {
    return ClassFile.of().verify(classFile).stream()
        .map(problem -> String.valueOf(problem.getMessage()))
        .filter(problem -> !problem.contains("resolve"))
        .toList();
  }

  private static String message(InvocationTargetException thrown) {
    return String.valueOf(Objects.requireNonNull(thrown.getCause()).getMessage());
  }

  private void compiled(String name, String source) {
    var _ = Compiled.compile(folder, name, source, "-cp", System.getProperty("java.class.path"));
  }

  private static @Nullable Object run(
      Class<?> type, Named context, String method, Object... arguments) throws Exception {
    var found =
        Arrays.stream(type.getMethods()).filter(one -> one.getName().equals(method)).findFirst();
    return ScopedValue.where(CallContext.CURRENT, context)
        .call(() -> found.orElseThrow().invoke(null, arguments));
  }

  @Test
  void everyFormOfNewAsksForTheSharedObjectOfItsKey() throws Exception {
    compiled("Uses", SPACE.replace(".rest()", ".rest"));
    try (var classes = UserClasses.open(List.of(folder), SharedUsesTest::never)) {
      Class<?> type = Class.forName("Uses", true, classes);
      assertEquals(List.of("Space a 1"), asked(type, "simple"));
      assertEquals(List.of("Space b 1", "Space c 1", "Space a 1"), asked(type, "nested"));
      assertEquals(List.of("Space x 1", "Space one 1"), asked(type, "ternary", true));
      assertEquals(List.of("Space two 1"), asked(type, "ternary", false));
      assertEquals(List.of("Space before 1", "Space caught 1"), asked(type, "caught", "four"));
      assertEquals(
          List.of("Space before 1", "Space in catch 1", "Space caught 1"),
          asked(type, "caught", ""));
      assertEquals(List.of("Space zero 1"), asked(type, "thrown", 0));
      assertThrows(InvocationTargetException.class, () -> asked(type, "thrown", 1));
      assertEquals(List.of("Space lambda 1"), asked(type, "lambda"));
      assertEquals(List.of("Second r1 2", "Sub r2! 1", "Second r3 2"), asked(type, "reference"));
      assertEquals(List.of("Second second 2"), asked(type, "second"));
      assertEquals(List.of("Vague v 0"), asked(type, "string"));
      for (String vague : List.of("vagueNumber", "vagueObject")) {
        var failure = assertThrows(InvocationTargetException.class, () -> asked(type, vague));
        assertInstanceOf(NotShareable.class, failure.getCause());
      }
      assertEquals(
          List.of("Space argument of this 1", "Space field 1", "Space inner 1"),
          asked(type, "inner"));
      assertEquals(List.of("Space argument of this 1", "Space field 1"), asked(type, "thisCall"));
      assertEquals(List.of("Sub s! 1"), asked(type, "sub"));
      assertEquals(List.of(), asked(type, "anonymous"));
      assertEquals(List.of(), asked(type, "plain"));
      assertEquals(List.of("Space unused 1"), asked(type, "unused"));
      assertEquals(List.of("Space l0 1", "Space l2 1"), asked(type, "loop"));
      assertEquals(List.of("Space v 1", "Space w 1"), asked(type, "wide", 1L, 2.0));
    }
  }

  private static List<String> asked(Class<?> type, String method, Object... arguments)
      throws Exception {
    var context = new Named();
    Object made = run(type, context, method, arguments);
    assertNotNull(made, method);
    return context.asked;
  }

  @Test
  void newIsTheObjectThatTheStoreAnswers() throws Exception {
    compiled("Uses", SPACE.replace(".rest()", ".rest"));
    try (var classes = UserClasses.open(List.of(folder), SharedUsesTest::never)) {
      Class<?> type = Class.forName("Uses", true, classes);
      var context = new Named();
      Object first = run(type, context, "simple");
      assertSame(first, run(type, context, "simple"));
      assertTrue(context.plain.containsValue(first));
    }
  }

  @Test
  void withoutABoundStoreNewSaysWhatIsMissing() throws Exception {
    compiled("Uses", SPACE.replace(".rest()", ".rest"));
    try (var classes = UserClasses.open(List.of(folder), SharedUsesTest::never)) {
      var simple = Class.forName("Uses", true, classes).getMethod("simple");
      var failure = assertThrows(InvocationTargetException.class, () -> simple.invoke(null));
      var unbound = assertInstanceOf(IllegalStateException.class, failure.getCause());
      assertTrue(String.valueOf(unbound.getMessage()).contains("call its bind() before"));
    }
  }

  @Test
  void weavingAgainChangesNothingAndWovenFilesAreTheResourcesOfALoader() throws Exception {
    compiled("Uses", SPACE.replace(".rest()", ".rest"));
    try (var plain = new URLClassLoader(new URL[] {folder.toUri().toURL()});
        var users = UserClasses.open(List.of(folder), SharedUsesTest::never)) {
      var uses = new SharedUses(plain, SharedUsesTest::never);
      int changed = 0;
      List<Path> files;
      try (var found = Files.list(folder)) {
        files = found.filter(one -> one.toString().endsWith(".class")).toList();
      }
      for (Path file : files) {
        byte[] before = Compiled.read(file);
        byte[] woven = uses.weave(before);
        if (!Arrays.equals(woven, before)) changed++;
        assertSame(woven, uses.weave(woven), file.toString());
        assertEquals(List.of(), problems(woven));
        try (var in = users.getResourceAsStream(String.valueOf(file.getFileName()))) {
          assertArrayEquals(woven, Objects.requireNonNull(in).readAllBytes());
        }
      }
      assertEquals(2, changed); // Uses, Uses$Inner
    }
  }

  private static final String FIELDS =
      """
      import java.util.*;
      import stoa.*;

      public class Fields {
        @Shared static Map<UUID, String> devices = new HashMap<>();
        @Shared(key = "queue") static final Deque<String[]> last = new ArrayDeque<>();
        public static class Below extends Fields {
          static List<String> own = List.of("own");
          public static Object inherited() { return devices; }
        }
        interface Constants { @Shared List<Integer> NUMBERS = new ArrayList<>(); }
        public static Object get() { return devices; }
        public static Object own() { return Below.own; }
        public static Object numbers() { return Constants.NUMBERS; }
        static Object last() { return last; }
      }
      """;

  @Test
  void readsOfStaticFieldsOpenCollectionsAndTheirInitialValuesAreDropped() throws Exception {
    compiled("Fields", FIELDS);
    try (var classes = UserClasses.open(List.of(folder), SharedUsesTest::never)) {
      Class<?> type = Class.forName("Fields", true, classes);
      for (String method : List.of("get", "numbers")) {
        var failure =
            assertThrows(
                InvocationTargetException.class, () -> type.getMethod(method).invoke(null));
        String message = message(failure);
        String name = method.equals("get") ? "Fields.devices" : "Fields$Constants.NUMBERS";
        assertTrue(message.startsWith("the shared collection " + name + " is in a store"), message);
      }
      var field = type.getDeclaredField("devices");
      field.setAccessible(true);
      assertNull(field.get(null));
      assertEquals(List.of("own"), type.getMethod("own").invoke(null));
      var failure =
          assertThrows(
              InvocationTargetException.class,
              () ->
                  Class.forName("Fields$Below", true, classes).getMethod("inherited").invoke(null));
      assertTrue(message(failure).contains("Fields.devices"));
    }
  }

  private static final String REFUSED =
      """
      import java.util.*;
      import stoa.*;

      public class Refused {
        @Shared static Map<UUID, List<String>> deep;
        @Shared static Set<String> set;
        @Shared Map<String, String> member;
        @Shared static Map<String, String> good;
        static void assign() { good = new HashMap<>(); }
        static Object deep() { return deep; }
        public static Object fine() { return 1; }
        public static <T> Object assigned() { assign(); return 1; }
      }
      """;

  @Test
  void whatCannotBeWovenIsRefusedWithTheReasonAndThrows() throws Exception {
    compiled("Refused", REFUSED);
    var report = WeaveDirectories.weave(List.of(folder), List.of());
    assertEquals(List.of(), report.woven());
    String all = String.join("\n", report.refusals());
    assertEquals(5, report.refusals().size(), all);
    assertTrue(
        all.contains("Refused.deep is annotated with @Shared, and not all of its type"), all);
    assertTrue(all.contains("Refused.set is annotated with @Shared, and its type is none of"), all);
    assertTrue(all.contains("Refused.member is annotated with @Shared and not static"), all);
    assertTrue(all.contains("Refused.assign()V cannot be woven: it assigns Refused.good"), all);
    assertTrue(all.contains("Refused.deep()Ljava/lang/Object; cannot be woven: it uses"), all);
    var said = new ArrayList<String>();
    try (var classes = UserClasses.open(List.of(folder), said::add)) {
      Class<?> type = Class.forName("Refused", true, classes);
      assertEquals(report.refusals(), said);
      assertEquals(1, type.getMethod("fine").invoke(null));
      var failure =
          assertThrows(
              InvocationTargetException.class, () -> type.getMethod("assigned").invoke(null));
      assertInstanceOf(NotShareable.class, failure.getCause());
    }
  }

  @Test
  void bytecodeThatNoCompilerMakesIsRefused() throws Exception {
    compiled("Uses", SPACE.replace(".rest()", ".rest"));
    ClassDesc sub = ClassDesc.of("Uses$Sub");
    MethodTypeDesc made = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String);
    MethodTypeDesc answers = MethodTypeDesc.of(ConstantDescs.CD_Object);
    byte[] odd =
        ClassFile.of()
            .build(
                ClassDesc.of("Odd"),
                type ->
                    type.withMethodBody(
                            "uncopied",
                            answers,
                            ClassFile.ACC_STATIC,
                            code ->
                                code.new_(sub)
                                    .astore(0)
                                    .aload(0)
                                    .ldc("a")
                                    .invokespecial(sub, "<init>", made)
                                    .aload(0)
                                    .areturn())
                        .withMethodBody(
                            "storedAndUsed",
                            MethodTypeDesc.of(sub),
                            ClassFile.ACC_STATIC,
                            code ->
                                code.new_(sub)
                                    .dup()
                                    .astore(0)
                                    .ldc("a")
                                    .invokespecial(sub, "<init>", made)
                                    .aload(0)
                                    .areturn()));
    var refusals = new ArrayList<String>();
    try (var classes = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      byte[] woven = new SharedUses(classes, refusals::add).weave(odd);
      assertEquals(2, refusals.size(), refusals + "");
      assertTrue(refusals.get(0).contains("of a form that javac does not make"), refusals + "");
      assertTrue(refusals.get(1).startsWith("Odd.storedAndUsed()LUses$Sub; cannot"), refusals + "");
      assertFalse(Arrays.equals(odd, woven));
    }
  }

  @Test
  void aBuildWeavesADirectoryInPlaceOnce() throws Exception {
    compiled("Uses", SPACE.replace(".rest()", ".rest"));
    assertEquals(2, WeaveDirectories.weave(List.of(folder), List.of()).woven().size());
    assertEquals(0, WeaveDirectories.weave(List.of(folder), List.of()).woven().size());
    try (var classes = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      Class<?> type = Class.forName("Uses", true, classes);
      assertEquals(List.of("Space lambda 1"), asked(type, "lambda"));
    }
    try (var classes = UserClasses.open(List.of(folder), SharedUsesTest::never)) {
      Class<?> type = Class.forName("Uses", true, classes);
      assertEquals(List.of("Space lambda 1"), asked(type, "lambda"));
    }
  }

  @Test
  void anAgentWeavesWhatAProgramLoads() throws Exception {
    compiled(
        "Program",
        """
        import stoa.*;

        public class Program {
          @Shared(key = "id") public static class Space { final String id; Space(String id) { this.id = id; } }
          public static void main(String[] args) {
            try {
              System.out.println("plain " + new Space("a").id);
            } catch (IllegalStateException unbound) {
              System.out.println(unbound.getMessage());
            }
          }
        }
        """);
    Path jar = folder.resolve("agent.jar");
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest
        .getMainAttributes()
        .put(new Attributes.Name("Premain-Class"), "stoa.weave.WeavingAgent");
    try (var out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      out.putNextEntry(new JarEntry("empty"));
    }
    assertEquals("plain a", program(List.of()));
    assertEquals(
        "Program$Space \"a\" is in a store, and none is bound; open one, and call its bind() before",
        program(List.of("-javaagent:" + jar)));
  }

  private String program(List<String> options) throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    String path = System.getProperty("java.class.path");
    command.addAll(List.of("-cp", folder + java.io.File.pathSeparator + path, "Program"));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (var in = process.getInputStream()) {
      String said = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8).strip();
      assertEquals(0, process.waitFor(), said);
      return said;
    }
  }
}
