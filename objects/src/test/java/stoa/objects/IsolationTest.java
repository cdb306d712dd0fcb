package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import stoa.Blob;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.View;
import stoa.weave.UserClasses;

/// Users' calls that would never end, on objects of classes that can be stopped.
@Timeout(100)
class IsolationTest {
  private static final Duration SHORT = Duration.ofMillis(120);
  private static final List<String> LOOPS = List.of("loop", "catch", "recurse", "lambda", "nested");

  private static final String SOURCE =
      """
      package users;

      import java.util.stream.Stream;
      import stoa.*;

      @Shared(name = "isolation.Actor")
      public class Actor implements stoa.objects.Acting {
        private int acted;

        public Actor() {}

        protected Actor(String how) { run(how); }

        public int act(String how) {
          acted++;
          return run(how);
        }

        @Accessor
        public int ask(String how) { return run(how); }

        private int run(String how) {
          switch (how) {
            case "loop" -> { while (acted >= 0) { } }
            case "catch" -> { while (true) { try { while (true) { work(); } } catch (Throwable t) { } } }
            case "recurse" -> { while (true) { try { recurse(0); } catch (StackOverflowError e) { } } }
            case "lambda" -> Stream.iterate(1, i -> i + 1).forEach(i -> { });
            case "nested" -> new Object() { void run() { for (;;) { work(); } } }.run();
            default -> { }
          }
          return acted;
        }

        private void work() { if (acted < 0) throw new IllegalStateException(); }

        private int recurse(int depth) { return recurse(depth + 1) + 1; }
      }
      """;

  @TempDir private static Path folder;

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private UserClasses classes = compiled();

  private static UserClasses compiled() {
    try {
      Path file = Files.writeString(folder.resolve("Actor.java"), SOURCE);
      String path = System.getProperty("java.class.path");
      var compiler = ToolProvider.getSystemJavaCompiler();
      try (var files = compiler.getStandardFileManager(null, null, null)) {
        var options = List.of("-proc:none", "-cp", path, "-d", folder.toString());
        assertTrue(
            compiler
                .getTask(null, files, null, options, null, files.getJavaFileObjects(file))
                .call());
      }
      return UserClasses.open(
          List.of(folder),
          unwoven -> {
            throw new AssertionError(unwoven);
          });
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @BeforeEach
  void usesTheUsersClasses() {
    Thread.currentThread().setContextClassLoader(classes);
  }

  @AfterEach
  void letsGoOfThem() throws IOException {
    Thread.currentThread().setContextClassLoader(before);
    classes.close();
  }

  private static Stoa open(Duration callTimeMax) {
    return Stoa.open(
        StoaConfig.of("memory:").withLimits(Limits.standard().withCallTimeMax(callTimeMax)));
  }

  private Acting actor(Stoa stoa, String key, Object... args) {
    try {
      return (Acting) stoa.get(Class.forName("users.Actor", true, classes), key, args);
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static ObjectCall call(Stoa stoa, Predicate<ObjectCall> such) {
    while (true) {
      for (ObjectCall call : LocalService.of(stoa).calls(100)) {
        if (such.test(call)) return call;
      }
      Thread.onSpinWait();
    }
  }

  /// Waits until no call runs.
  private static void assertQuiet(Stoa stoa) {
    while (!LocalService.of(stoa).calls(100).isEmpty()) Thread.onSpinWait();
  }

  @Test
  void aCallEndsAfterItsOwnTimeAndLeavesNoTrace() {
    try (Stoa stoa = open(Duration.ofMinutes(5))) {
      Acting actor = actor(stoa, "a");
      assertEquals(1, actor.act("count"));
      Acting hasty = stoa.within(SHORT, actor);
      assertEquals(stoa.ref(actor), stoa.ref(hasty));
      assertEquals(2, hasty.act("count"));
      for (String loop : LOOPS) {
        assertThrows(DeadlineExceeded.class, () -> hasty.act(loop), loop);
        assertThrows(DeadlineExceeded.class, () -> hasty.ask(loop), loop);
      }
      assertEquals(3, actor.act("count"));
      assertQuiet(stoa);
    }
  }

  @Test
  void anAsynchronousCallEndsAfterItsOwnTime() {
    try (Stoa stoa = open(Duration.ofMinutes(5))) {
      Acting hasty = stoa.within(SHORT, actor(stoa, "a"));
      var loops = stoa.async(hasty, object -> object.act("loop"));
      var asks = stoa.async(hasty, object -> object.ask("loop"));
      var thrown = assertThrows(CompletionException.class, loops::join);
      assertInstanceOf(DeadlineExceeded.class, thrown.getCause());
      thrown = assertThrows(CompletionException.class, asks::join);
      assertInstanceOf(DeadlineExceeded.class, thrown.getCause());
      assertEquals(1, stoa.async(hasty, object -> object.act("count")).join());
      assertQuiet(stoa);
    }
  }

  @Test
  void viewsEndAfterTheirOwnTime() {
    try (Stoa stoa = open(Duration.ofMinutes(5))) {
      Acting actor = actor(stoa, "a");
      assertEquals(1, actor.act("count"));
      var type = Acting.class;
      for (View view : List.of(new View.Local(), new View.Cached(), new View.AtVersion(1))) {
        Acting seen = type.cast(stoa.view(typeOf(actor), stoa.ref(actor), view));
        Acting hasty = stoa.within(SHORT, seen);
        for (String loop : LOOPS) {
          assertThrows(DeadlineExceeded.class, () -> hasty.ask(loop), loop + " of " + view);
        }
        assertEquals(1, hasty.ask("count"));
      }
      assertQuiet(stoa);
    }
  }

  private Class<? extends Acting> typeOf(Acting proxy) {
    return proxy.getClass().getSuperclass().asSubclass(Acting.class);
  }

  @Test
  void viewsTransactionsAndConstructorsEndAfterTheTimeOfAnyCall() {
    try (Stoa stoa = open(SHORT)) {
      Acting actor = actor(stoa, "a");
      assertEquals(1, actor.act("count"));
      View view = new View.Cached();
      Acting seen = stoa.view(typeOf(actor), stoa.ref(actor), view);
      assertThrows(DeadlineExceeded.class, () -> seen.ask("catch"));
      assertEquals(1, seen.ask("count"));
      assertThrows(
          DeadlineExceeded.class,
          () ->
              stoa.transact(() -> {
                var _ = actor.act("catch");
              }));
      assertThrows(DeadlineExceeded.class, () -> actor(stoa, "b", "loop").act("count"));
      assertEquals(2, actor.act("count"));
      assertQuiet(stoa);
    }
  }

  @Test
  void anOperatorSeesCallsAndCancelsThem() {
    try (Stoa stoa = open(Duration.ofMinutes(5))) {
      Acting actor = actor(stoa, "a");
      assertEquals(1, actor.act("count"));
      var loops = stoa.async(actor, object -> object.act("catch"));
      ObjectCall running = call(stoa, call -> call.progress() == ObjectCall.Progress.RUNNING);
      assertTrue(running.method().contains("act"), running.method());
      assertTrue(running.object().contains("a"), running.object());
      assertEquals(2, running.version());
      var waits = stoa.async(actor, object -> object.act("count"));
      var refused = stoa.async(actor, object -> object.act("loop"));
      ObjectCall waiting =
          call(stoa, call -> call.progress() == ObjectCall.Progress.WAITING && call.version() == 4);
      LocalService operator = LocalService.of(stoa);
      assertTrue(operator.cancel(waiting.id()));
      assertTrue(operator.cancel(running.id()));
      for (var cancelled : List.of(loops, refused)) {
        var thrown = assertThrows(CompletionException.class, cancelled::join);
        assertInstanceOf(CallFailed.class, thrown.getCause());
        assertTrue(String.valueOf(thrown.getCause()).contains("operator"));
      }
      assertEquals(2, waits.join());
      assertFalse(operator.cancel(running.id()));
      assertQuiet(stoa);
    }
  }

  @Test
  void refusesTimesThatNoCallHas() {
    try (Stoa stoa = open(SHORT)) {
      Acting actor = actor(stoa, "a");
      assertThrows(IllegalArgumentException.class, () -> stoa.within(Duration.ZERO, actor));
      Blob blob = stoa.get(Blob.class, "blob");
      assertThrows(UnsupportedOperationException.class, () -> stoa.within(SHORT, blob));
    }
  }
}
