package stoa.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BackgroundProcessTest {
  private static final List<String> FOR_EVER =
      List.of("/bin/sh", "-c", "echo listening on 17; exec tail -f /dev/null");

  @Test
  void endsWhenItIsClosed() throws Exception {
    ProcessHandle handle;
    try (var server = BackgroundProcess.start(FOR_EVER, Map.of())) {
      assertEquals("17", server.await("listening on "));
      assertFalse(server.processorTime().isNegative());
      handle = ProcessHandle.of(server.id()).orElseThrow();
    }
    assertFalse(handle.isAlive());
  }

  @Test
  void severalEndWhenAllAreClosed() throws Exception {
    var servers =
        List.of(
            BackgroundProcess.start(FOR_EVER, Map.of()),
            BackgroundProcess.start(FOR_EVER, Map.of()));
    List<ProcessHandle> handles =
        servers.stream().map(server -> ProcessHandle.of(server.id()).orElseThrow()).toList();
    BackgroundProcess.closeAll(servers);
    assertFalse(handles.stream().anyMatch(ProcessHandle::isAlive));
  }

  @Test
  void severalAreKilledThatWouldNotEndByThemselves() throws Exception {
    var stubborn = List.of("/bin/sh", "-c", "trap '' TERM; echo up; exec tail -f /dev/null");
    var servers = List.of(BackgroundProcess.start(stubborn, Map.of()));
    var _ = servers.getFirst().await("up");
    ProcessHandle handle = ProcessHandle.of(servers.getFirst().id()).orElseThrow();
    BackgroundProcess.killAll(servers);
    assertFalse(handle.isAlive());
  }

  @Test
  void endsWithAProcessThatIsKilled() throws Exception {
    var parent =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Parent.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var output =
        new BufferedReader(
            new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8))) {
      var server = ProcessHandle.of(Long.parseLong(output.readLine())).orElseThrow();
      assertTrue(server.isAlive());
      parent.destroyForcibly();
      server.onExit().join();
    }
  }

  /// Starts a server and waits to be killed.
  static final class Parent {
    private Parent() {}

    public static void main(String[] arguments) throws Exception {
      try (var server = BackgroundProcess.start(FOR_EVER, Map.of())) {
        server.await("listening on ");
        System.out.println(server.id());
        Thread.currentThread().join();
      }
    }
  }

  @Test
  void saysWhatAServerSaidThatDidNotStart() throws Exception {
    try (var server =
        BackgroundProcess.start(List.of("/bin/sh", "-c", "echo no room; exit 3"), Map.of())) {
      var failure = assertThrows(IllegalStateException.class, () -> server.await("listening on "));
      String message = String.valueOf(failure.getMessage());
      assertTrue(message.contains("no room") && message.contains("ended with 3"), message);
    }
  }
}
