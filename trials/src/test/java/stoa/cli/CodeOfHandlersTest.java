package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;
import stoa.Stoa;

/// Handlers of keys at a server on whose class path they are not.
class CodeOfHandlersTest {
  private static final String READING = "public record Reading(double degrees) {}";
  private static final String METER =
      "@Shared(name = \"meter\") public class Meter { private int count;"
          + " public int next() { return ++count; } }";
  private static final String EAR =
      "public class Ear implements KeyListener<String> {"
          + " private final java.util.concurrent.BlockingQueue<String> told ="
          + " new java.util.concurrent.LinkedBlockingQueue<>();"
          + " public void on(KeyEvent<String> event) { told.add(event.value()); }"
          + " public void ended(StoaException cause) { told.add(cause.toString()); }"
          + " public String next() throws InterruptedException { return told.take(); }"
          + " public void listen(Stoa stoa, String key) { stoa.store().register(key, this, new Alarm(20)); }"
          + " public void put(Stoa stoa, String key, double degrees) {"
          + " stoa.store().put(key, new Reading(degrees)); } }";

  @TempDir Path directory;

  /// A handler that calls a shared object, which only the handler's code names.
  private Build build(String word) throws IOException {
    String alarm =
        "public record Alarm(double limit) implements KeyHandler<Reading, String> {"
            + " public String handle(Object key, Reading value, Reading before) {"
            + " return value == null || value.degrees() <= limit ? null : \""
            + word
            + " \" + value.degrees() + \" \" + Call.get(Meter.class, key).next(); } }";
    return new Build(directory.resolve(word), READING, METER, alarm, EAR);
  }

  private static Object ear(Build build, Stoa stoa, String key) {
    try {
      Object ear = build.type("Ear").getConstructor().newInstance();
      Build.call(ear, "listen", stoa, key);
      return ear;
    } catch (ReflectiveOperationException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static @Nullable Object next(Object ear) {
    return Build.call(ear, "next");
  }

  private static String deployed(Build build, String server) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(0, Main.run(out, out, "deploy", build.path(), "--server", server), text::toString);
    return text.toString();
  }

  private static ServerProcess again(ServerProcess server) {
    try {
      server.kill();
      return server.startAgain();
    } catch (IOException | InterruptedException failed) {
      throw new IllegalStateException(failed);
    }
  }

  @Test
  void listenersKeepTheDeployedCodeWithWhichTheyWereRegistered() throws Exception {
    Build hot = build("hot");
    Build warm = build("warm");
    Path data = directory.resolve("data");
    try (var server = ServerProcess.start(data)) {
      String absent =
          String.valueOf(
              assertThrows(
                      NotShareable.class,
                      () -> hot.client(server.url(), stoa -> ear(hot, stoa, "k")))
                  .getMessage());
      assertTrue(absent.contains("v.Alarm") && absent.contains("./stoa deploy"), absent);
      String fresh = "stoa/handler/v.Alarm  new\nmeter                 new\n";
      assertEquals(fresh, deployed(hot, server.address()));
      hot.client(
          server.url(),
          stoa -> {
            Object first = ear(hot, stoa, "k");
            Build.call(first, "put", stoa, "k", 30.0);
            assertEquals("hot 30.0 1", next(first));
            String changed = deployed(warm, server.address());
            assertTrue(changed.contains("stoa/handler/v.Alarm  changed: 0 objects tried"), changed);
            Object second = ear(hot, stoa, "k");
            try (var _ = again(server)) {
              Build.call(first, "put", stoa, "k", 40.0);
              assertEquals("hot 40.0 2", next(first));
              assertEquals("warm 40.0 3", next(second));
            }
            return true;
          });
    }
  }

  @Test
  void aClientBringsTheClassesOfItsHandlers() throws Exception {
    Build hot = build("hot");
    try (var server = ServerProcess.start(directory.resolve("data"), List.of("--client-classes"))) {
      hot.client(
          server.url(),
          stoa -> {
            Object ear = ear(hot, stoa, "k");
            Build.call(ear, "put", stoa, "k", 30.0);
            assertEquals("hot 30.0 1", next(ear));
            // The handler has brought the class of the object that it calls.
            assertEquals(2, Build.call(hot.object(stoa, "Meter", "k"), "next"));
            return true;
          });
    }
  }
}
