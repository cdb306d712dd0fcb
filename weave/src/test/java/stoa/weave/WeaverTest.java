package stoa.weave;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import stoa.spi.Cancellation;

@Timeout(120)
class WeaverTest {
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(ConstantDescs.CD_void);
  private static final int STATIC = ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC;

  @TempDir private Path folder;

  private static List<String> errors(byte[] classFile) {
    var resolver =
        ClassHierarchyResolver.ofResourceParsing(WeaverTest.class.getClassLoader())
            .orElse(ClassHierarchyResolver.defaultResolver());
    return ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver))
        .verify(classFile)
        .stream()
        .map(VerifyError::getMessage)
        .toList();
  }

  @Test
  void whatItWeavesOfTheJdkIsVerified() throws Exception {
    var jdk = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", "java.base");
    List<Path> files;
    try (var found = Files.walk(jdk.resolve("java"))) {
      files = found.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
    var chosen = new ArrayList<Path>();
    var random = new Random(7);
    for (int i = 0; i < 500; i++) chosen.add(files.get(random.nextInt(files.size())));
    chosen.add(jdk.resolve("java/util/concurrent/ForkJoinPool.class"));
    chosen.add(jdk.resolve("java/util/HashMap.class"));
    var unwoven = new ArrayList<String>();
    var weaver = new Weaver(WeaverTest.class.getClassLoader()::getResourceAsStream, unwoven::add);
    for (Path file : chosen) {
      assertEquals(List.of(), errors(weaver.weave(Compiled.read(file))), file.toString());
    }
    assertEquals(List.of(), unwoven);
  }

  @Test
  void wovenCodeDoesWhatItDid() throws Exception {
    Compiled.compile(folder, "Ordinary", ORDINARY);
    String plain;
    String woven;
    try (var classes = new java.net.URLClassLoader(new java.net.URL[] {folder.toUri().toURL()})) {
      plain = (String) Class.forName("Ordinary", true, classes).getMethod("run").invoke(null);
    }
    try (var classes = UserClasses.open(List.of(folder), Assertions::never)) {
      Class<?> type = Class.forName("Ordinary", true, classes);
      assertEquals(classes, type.getClassLoader());
      woven = (String) type.getMethod("run").invoke(null);
    }
    assertEquals(plain, woven);
    assertTrue(plain.length() > 20);
  }

  private static final class Assertions {
    private static void never(String unwoven) {
      throw new AssertionError(unwoven);
    }
  }

  private static final String ORDINARY =
      """
      import java.util.*;
      import java.util.stream.*;

      public class Ordinary {
        enum Color { RED, GREEN { int n() { return 5; } }; int n() { return ordinal(); } }
        record Pair<A, B>(A a, B b) { Pair { Objects.requireNonNull(a); } }
        interface Named { default String name() { return "n" + id(); } int id(); }
        static final List<Integer> SQUARES = new ArrayList<>();
        static { for (int i = 0; i < 20; i++) SQUARES.add(i * i); }
        final int base;
        Ordinary(int base) { this.base = base > 3 ? base : twice(base); }
        static int twice(int n) { return n * 2; }
        long sum(long... all) { long s = base; for (long l : all) s += l; return s; }
        static String caught(int n) {
          StringBuilder out = new StringBuilder();
          for (int i = 0; i < n; i++) {
            try {
              if (i % 3 == 0) throw new IllegalStateException("i" + i);
              if (i % 5 == 0) continue;
              out.append(i);
            } catch (IllegalStateException e) { out.append(e.getMessage()); }
            finally { out.append(';'); synchronized (out) { out.append('.'); } }
          }
          return out.toString();
        }
        public static String run() {
          var text = new StringJoiner(",");
          text.add(caught(20));
          text.add("" + new Ordinary(2).sum(1, 2, 3));
          for (Color c : Color.values()) switch (c) { case RED -> text.add("r" + c.n()); case GREEN -> text.add("g" + c.n()); }
          text.add(new Pair<>("x", List.of(1.5, 2f)).toString());
          Named named = () -> 7;
          text.add(named.name());
          text.add(IntStream.range(0, 50).filter(i -> i % 7 == 0).mapToObj(Integer::toString).collect(Collectors.joining("/")));
          Object o = SQUARES;
          String kind = switch (o) { case List<?> l when l.size() > 10 -> "long " + l.getLast(); case List<?> l -> "short"; default -> "none"; };
          text.add(kind);
          double d = 1; int i = 0;
          do { d = d / 3 + i; i++; } while (i < 30 && d < 1e9);
          text.add("" + d);
          return text.toString();
        }
      }
      """;

  @Test
  void leavesAMethodThatWouldBecomeTooLongAndSaysSo() throws Exception {
    byte[] classFile =
        ClassFile.of()
            .build(
                ClassDesc.of("Huge"),
                type ->
                    type.withMethodBody(
                            "huge",
                            NOTHING,
                            STATIC,
                            code -> {
                              for (int i = 0; i < 65_533; i++) code.nop();
                              code.return_();
                            })
                        .withMethodBody(
                            "small",
                            NOTHING,
                            STATIC,
                            code -> {
                              Label begin = code.newBoundLabel();
                              code.goto_(begin);
                            }));
    Files.write(folder.resolve("Huge.class"), classFile);
    var unwoven = new ArrayList<String>();
    try (var classes = UserClasses.open(List.of(folder), unwoven::add)) {
      Class<?> type = Class.forName("Huge", true, classes);
      assertEquals(1, unwoven.size());
      assertTrue(unwoven.getFirst().startsWith("Huge.huge()V cannot be stopped: "), unwoven + "");
      var _ = type.getMethod("huge").invoke(null);
      stopped(() -> {
        var _ = type.getMethod("small").invoke(null);
      });
    }
  }

  /// No compiler makes handlers that precede the code that they handle, or that handle themselves.
  @Test
  void handlersThatAreThrownBackToEnd() throws Exception {
    ClassDesc failure = ClassDesc.of("java.lang.IllegalStateException");
    byte[] classFile =
        ClassFile.of()
            .build(
                ClassDesc.of("Crafted"),
                type ->
                    type.withMethodBody(
                            "itself",
                            NOTHING,
                            STATIC,
                            code -> {
                              Label handler = code.newLabel();
                              Label end = code.newLabel();
                              code.aconst_null().labelBinding(handler).pop();
                              code.aconst_null().athrow().labelBinding(end);
                              code.exceptionCatchAll(handler, end, handler);
                            })
                        .withMethodBody(
                            "before",
                            NOTHING,
                            STATIC,
                            code -> {
                              Label handler = code.newLabel();
                              Label begin = code.newLabel();
                              Label end = code.newLabel();
                              code.aconst_null().labelBinding(handler).pop();
                              code.labelBinding(begin).new_(failure).dup();
                              code.invokespecial(failure, "<init>", NOTHING).athrow();
                              code.labelBinding(end);
                              code.exceptionCatchAll(begin, end, handler);
                            })
                        .withMethodBody(
                            "around",
                            NOTHING,
                            STATIC,
                            code -> {
                              Label begin = code.newLabel();
                              Label handler = code.newLabel();
                              Label end = code.newLabel();
                              code.labelBinding(begin).aconst_null();
                              code.labelBinding(handler).pop().aconst_null().athrow();
                              code.labelBinding(end);
                              code.exceptionCatchAll(begin, end, handler);
                            })
                        .withMethodBody(
                            "outward",
                            NOTHING,
                            STATIC,
                            code -> {
                              Label handler = code.newLabel();
                              Label end = code.newLabel();
                              Label over = code.newLabel();
                              code.aconst_null().goto_(over).labelBinding(handler).pop();
                              code.aconst_null().labelBinding(over).goto_(handler);
                              code.labelBinding(end);
                              code.exceptionCatchAll(handler, end, handler);
                            }));
    Files.write(folder.resolve("Crafted.class"), classFile);
    try (var classes = UserClasses.open(List.of(folder), Assertions::never)) {
      Class<?> type = Class.forName("Crafted", true, classes);
      for (String name : List.of("itself", "before", "around", "outward")) {
        stopped(() -> {
          var _ = type.getMethod(name).invoke(null);
        });
      }
    }
  }

  private interface Code {
    void run() throws ReflectiveOperationException;
  }

  private static void stopped(Code code) throws InterruptedException {
    var thrown = new ArrayList<Throwable>();
    var thread =
        new Thread(() -> {
          try {
            code.run();
          } catch (ReflectiveOperationException failure) {
            thrown.add(failure.getCause());
          }
        });
    thread.setDaemon(true);
    thread.start();
    Cancellation.Run run = () -> Thread.currentThread().equals(thread);
    while (thread.getStackTrace().length < 3) Thread.onSpinWait();
    Cancellation.stop(run);
    thread.join();
    Cancellation.ended(run);
    assertTrue(thrown.getFirst() instanceof Cancellation.Stopped, thrown + "");
  }

  @Test
  void leavesWhatIsNoClassFileToTheVirtualMachine() {
    byte[] rubbish = {1, 2, 3, 4, 5, 6, 7, 8};
    var unwoven = new ArrayList<String>();
    assertArrayEquals(
        rubbish,
        new Weaver(WeaverTest.class.getClassLoader()::getResourceAsStream, unwoven::add)
            .weave(rubbish));
    assertEquals(1, unwoven.size());
  }

  @Test
  void refusesAPathThatIsNotThere() {
    assertThrows(
        IllegalArgumentException.class,
        () -> UserClasses.open(List.of(folder.resolve("none.jar")), Assertions::never));
  }
}
