package stoa.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import stoa.spi.Cancellation;

/// Code that would run for ever ends when it is stopped, whatever it looks like.
@Timeout(120)
class EndlessTest {
  /* Each method of the class Endless runs for ever, and says so by `turns` if it can. */
  private static final String ENDLESS =
      """
      import java.util.*;
      import java.util.function.*;
      import java.util.stream.*;

      public class Endless {
        static int zero;
        static final Object LOCK = new Object();
        static final java.util.concurrent.locks.ReentrantLock HELD =
            new java.util.concurrent.locks.ReentrantLock();

        public static void emptyWhile() { while (zero == 0); }
        public static void constantWhile() { while (true) { } }
        public static void doWhile() { do { zero += 0; } while (zero == 0); }
        public static void countingFor() { for (int i = 0; i >= 0; i = (i + 1) & 0xFFFF) { } }
        public static void forEach() { for (Object o : (Iterable<Object>) Endless::forever) { } }
        static Iterator<Object> forever() {
          return new Iterator<Object>() {
            public boolean hasNext() { return true; }
            public Object next() { return ""; }
          };
        }
        public static void labelled() {
          outer:
          while (true) {
            for (int i = 0; ; i++) {
              if (i > 10) continue outer;
            }
          }
        }
        public static void switching() {
          int state = 0;
          while (true) {
            switch (state) {
              case 0: state = 1; continue;
              case 1: state = 2; break;
              case 2: state = 1000; continue;
              case 1000: state = 0; continue;
              default: return;
            }
          }
        }
        public static void switchingOnText() {
          String state = "a";
          while (true) {
            switch (state) {
              case "a": state = "b"; continue;
              case "b": state = "a"; continue;
              default: return;
            }
          }
        }
        public static void catchingAll() {
          while (true) {
            try { work(); } catch (Throwable caught) { zero += 0; }
          }
        }
        public static void catchingWithin() {
          while (true) {
            try { while (true) { work(); } } catch (Throwable caught) { continue; }
          }
        }
        public static void catchingAround() {
          try { while (true) { work(); } }
          catch (Throwable caught) {
            try { while (true) { work(); } }
            catch (Throwable again) { while (true) { } }
          }
        }
        public static void finallyGoesOn() {
          while (true) {
            try { work(); } finally { continue; }
          }
        }
        public static void finallyGoesOnWithin() {
          for (;;) {
            try { for (;;) { work(); } } finally { for (;;) { work(); break; } continue; }
          }
        }
        static void work() { if (zero != 0) throw new IllegalStateException(); }
        public static void throwing() {
          while (true) {
            try { throw new Exception("x"); } catch (Exception caught) { }
          }
        }
        public static void holdingMonitors() {
          synchronized (LOCK) {
            while (true) { synchronized (Endless.class) { zero += 0; } }
          }
        }
        public static void holdingALock() {
          HELD.lock();
          try { while (true) { zero += 0; } } finally { HELD.unlock(); }
        }
        public static void recursing() { while (true) { try { recurse(1); } catch (StackOverflowError e) { } } }
        static int recurse(int depth) { return recurse(depth + 1) + 1; }
        public static void recursingTogether() { while (true) { try { ping(0); } catch (StackOverflowError e) { } } }
        static int ping(int n) { return pong(n) + 1; }
        static int pong(int n) { return ping(n) + 1; }
        public static void branchingOut() { fibonacci(10_000); }
        static long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
        public static void lambda() {
          Runnable loop = () -> { while (zero == 0) { } };
          loop.run();
        }
        public static void streaming() { Stream.iterate(1, i -> i + 1).forEach(i -> { }); }
        public static void streamingReferences() { Stream.generate(Endless::made).allMatch(Objects::nonNull); }
        static Object made() { return ""; }
        public static void comparing() {
          while (true) new TreeSet<Integer>((a, b) -> 1).addAll(List.of(1, 2, 3));
        }
        public static void nested() { new Nested().run(); }
        static class Nested { void run() { while (zero == 0) { } } }
        class Inner { int n; void run() { for (;;) n++; } }
        public static void inner() { new Endless().new Inner().run(); }
        public static void local() {
          class Local { void run() { while (true) { } } }
          new Local().run();
        }
        public static void anonymous() {
          new Object() { void run() { while (true) { } } }.run();
        }
        public static void constructing() { new Constructed(); }
        static class Constructed { Constructed() { while (zero == 0) { } } }
        public static void constructingForEver() { while (true) { try { new Chain(0); } catch (StackOverflowError e) { } } }
        static class Chain {
          final Chain next;
          Chain(int n) { this(new Chain(n + 1)); }
          Chain(Chain next) { super(); this.next = next; }
        }
        public static void initialising() { Initialised.touch(); }
        static class Initialised {
          static { while (zero == 0) { } }
          static void touch() { }
        }
        interface Looping { default void loop() { while (zero == 0) step(); } void step(); }
        public static void defaulting() { Looping l = () -> { }; l.loop(); }
        interface Helped { static void help() { while (true) { } } }
        public static void interfaceStatic() { Helped.help(); }
        enum Kind {
          A { void run() { while (true) { } } };
          abstract void run();
        }
        public static void enumerated() { Kind.A.run(); }
        public static void iterating() {
          Iterator<Object> all = forever();
          long count = 0;
          while (all.hasNext()) { Object o = all.next(); count += o.hashCode(); }
        }
        public static void deepFinally() {
          try { loops(3); } finally { zero += 0; }
        }
        static void loops(int depth) {
          if (depth == 0) { while (true) { } }
          try { loops(depth - 1); } catch (Throwable caught) { loops(depth - 1); }
        }
        public static void manyLocals() {
          long a = 1; double b = 2; String c = "c"; Object d = c;
          for (int i = 0; ; i++) {
            if ((i & 1) == 0) d = List.of(a, b); else d = new ArrayList<Object>(List.of(c));
            if (((Collection<?>) d).size() > 5) return;
            a += i; b /= 2;
          }
        }
      }
      """;

  private static final String MODERN =
      """
      import java.util.*;

      public class Modern {
        sealed interface Shape permits Circle, Square {}
        record Circle(double r) implements Shape {
          Circle { while (r == 13) { } }
          double grow() { double d = r; while (d >= 0) d = Math.max(0, d - 1) + 1; return d; }
        }
        record Square(double side) implements Shape {}
        public static void matching() {
          Shape shape = new Circle(1);
          while (true) {
            shape = switch (shape) {
              case Circle(double r) when r > 100 -> new Square(r);
              case Circle(double r) -> new Circle(r + 1);
              case Square s -> new Circle(s.side() / 1000);
            };
          }
        }
        public static void record() { new Circle(3).grow(); }
        public static void compactConstructor() { new Circle(13); }
        public static void yielding() {
          int n = 0;
          while (n < 10) n = switch (n) { case 5 -> { int m = 0; while (m < 5) m++; yield 0; } default -> n + 1; };
        }
        public static void closing() {
          while (true) {
            try (AutoCloseable c = () -> { }) { Objects.requireNonNull(c); } catch (Exception e) { }
          }
        }
        public static void joined() {
          String s = "";
          for (int i = 0; ; i++) s = s.length() > 20 ? "" : s + i + s.length();
        }
      }
      """;

  @TempDir private Path folder;

  /// A run on a thread of its own.
  private static final class Running implements Cancellation.Run {
    private final Method endless;
    private final AtomicReference<@Nullable Throwable> ended = new AtomicReference<>();
    private final Thread thread;

    private Running(Method endless) {
      this.endless = endless;
      thread = new Thread(null, this::run, endless.getName(), 4 << 20);
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      try {
        endless.invoke(null);
      } catch (InvocationTargetException thrown) {
        ended.set(thrown.getCause());
      } catch (IllegalAccessException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public boolean isCurrent() {
      return Thread.currentThread().equals(thread);
    }

    /// Waits until the code of the test's class is on the stack.
    private void awaitBegun() {
      String name = endless.getDeclaringClass().getName();
      while (thread.isAlive()
          && Arrays.stream(thread.getStackTrace())
              .noneMatch(frame -> frame.getClassName().startsWith(name))) {
        Thread.onSpinWait();
      }
    }

    private void stop() throws InterruptedException {
      awaitBegun();
      assertTrue(thread.isAlive(), endless + " ended by itself");
      Cancellation.stop(this);
      thread.join();
      Cancellation.ended(this);
      Throwable thrown = ended.get();
      // Static initialisers, and patterns, wrap what is thrown.
      while (thrown != null && thrown.getCause() != null) thrown = thrown.getCause();
      assertTrue(thrown instanceof Cancellation.Stopped, endless + " ended with " + thrown);
    }
  }

  private static List<Method> endless(Class<?> type) {
    return Arrays.stream(type.getDeclaredMethods())
        .filter(method ->
            java.lang.reflect.Modifier.isPublic(method.getModifiers())
                && method.getParameterCount() == 0)
        .sorted(java.util.Comparator.comparing(Method::getName))
        .toList();
  }

  private int stopsAll(Path path, String className) throws Exception {
    var unwoven = new ArrayList<String>();
    int count = 0;
    try (var classes = UserClasses.open(List.of(path), unwoven::add)) {
      Class<?> type = Class.forName(className, true, classes);
      for (Method method : endless(type)) {
        new Running(method).stop();
        count++;
      }
      assertEquals(List.of(), unwoven);
    }
    return count;
  }

  @Test
  void endlessCodeOfJava8Ends() throws Exception {
    Compiled.compile(folder, "Endless", java8(ENDLESS), "--release", "8", "-Xlint:-options");
    assertTrue(stopsAll(folder, "Endless") > 35);
  }

  /// Without what Java 8 has not.
  private static String java8(String source) {
    return source
        .replace("((Collection<?>) d).size() > 5", "((Collection<?>) d).size() > 5")
        .replace("List.of(", "Arrays.<Object>asList(")
        .replace("(a, b) -> 1).addAll(Arrays.<Object>asList(1, 2, 3))", "(a, b) -> 1).add(1)");
  }

  @Test
  void endlessCodeOfThisJavaEnds() throws Exception {
    Compiled.compile(folder, "Endless", ENDLESS);
    Compiled.compile(folder, "Modern", MODERN);
    assertTrue(stopsAll(folder, "Endless") > 35);
    assertEquals(6, stopsAll(folder, "Modern"));
  }

  @Test
  void runsFinallyAndLetsGoOfLocksOnTheWayOut() throws Exception {
    Compiled.compile(folder, "Endless", ENDLESS);
    try (var classes = UserClasses.open(List.of(folder), _ -> {})) {
      Class<?> type = Class.forName("Endless", true, classes);
      new Running(type.getMethod("holdingALock")).stop();
      new Running(type.getMethod("holdingMonitors")).stop();
      var held = type.getDeclaredField("HELD");
      held.setAccessible(true);
      assertFalse(((java.util.concurrent.locks.ReentrantLock) held.get(null)).isLocked());
      var lock = type.getDeclaredField("LOCK");
      lock.setAccessible(true);
      synchronized (lock.get(null)) {
        assertTrue(Thread.holdsLock(lock.get(null))); // which nobody holds any more
      }
    }
  }

  @Test
  void leavesOtherRunsAlone() throws Exception {
    Compiled.compile(folder, "Endless", ENDLESS);
    try (var classes = UserClasses.open(List.of(folder), _ -> {})) {
      Class<?> type = Class.forName("Endless", true, classes);
      var other = new Running(type.getMethod("countingFor"));
      new Running(type.getMethod("labelled")).stop();
      new Running(type.getMethod("catchingWithin")).stop();
      assertTrue(other.thread.isAlive());
      other.stop();
    }
  }
}
