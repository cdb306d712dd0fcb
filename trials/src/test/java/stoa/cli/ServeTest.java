package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.CallFailed;
import stoa.Stoa;
import stoa.cluster.SecretFile;

/// A user's classes in a jar, at a server in a process of its own and at its clients.
class ServeTest {
  private static final String SPINNER =
      """
      package app;

      @stoa.Shared
      public class Spinner {
        private long turns;

        protected Spinner() {}

        public long spin() {
          while (turns >= 0) turns = (turns + 1) & Long.MAX_VALUE;
          return turns;
        }

        @stoa.Accessor
        public long turns() {
          return turns;
        }
      }
      """;

  private static final String TALLY =
      """
      package app;

      @stoa.Shared
      public class Tally {
        private long sum;

        protected Tally() {}

        public long add(long more) {
          return sum += more;
        }
      }
      """;

  // A program that uses them.
  private static final String PROGRAM =
      """
      package app;

      public class Program implements java.util.function.Function<String, Object> {
        private final stoa.Stoa stoa;

        public Program(stoa.Stoa stoa) {
          this.stoa = stoa;
        }

        @Override
        public Object apply(String what) {
          return switch (what) {
            case "spin" -> stoa.async(stoa.get(Spinner.class, "s"), Spinner::spin);
            case "turns" -> stoa.get(Spinner.class, "s").turns();
            default -> stoa.get(Tally.class, what).add(1);
          };
        }
      }
      """;

  /// Runs a tool of the JDK; answers what it says.
  private static String tool(String name, String... arguments)
      throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", name).toString());
    command.addAll(List.of(arguments));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said;
  }

  private static Path jar(Path directory) throws IOException, InterruptedException {
    Path classes = directory.resolve("classes");
    var arguments =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-classpath",
                System.getProperty("java.class.path"),
                "-d",
                classes.toString()));
    var sources = Map.of("Spinner", SPINNER, "Tally", TALLY, "Program", PROGRAM);
    for (var source : sources.entrySet()) {
      Path file = directory.resolve(source.getKey() + ".java");
      Files.writeString(file, source.getValue());
      arguments.add(file.toString());
    }
    tool("javac", arguments.toArray(String[]::new));
    Path jar = directory.resolve("app.jar");
    try (var out = new JarOutputStream(Files.newOutputStream(jar));
        var files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        out.write(Files.readAllBytes(file));
        out.closeEntry();
      }
    }
    return jar;
  }

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  /// The number of the call on the endless method, once it runs.
  private static String spinning(ServerProcess server) {
    while (true) {
      String status = stoa(0, "status", "--server", server.address());
      for (String line : status.lines().toList()) {
        if (line.contains("spin") && line.contains(" runs ")) return line.strip().split(" ", 2)[0];
      }
    }
  }

  /// Whether a thread of the server is in the endless method.
  private static boolean isInside(ServerProcess server) throws IOException, InterruptedException {
    String threads = tool("jcmd", Long.toString(server.id()), "Thread.print");
    return threads.contains("app.Spinner.spin");
  }

  @Test
  void refusesATokenASecretAndAKeyThatEverybodyMayRead(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "word");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    String data = directory.resolve("data").toString();
    for (List<String> options :
        List.of(
            List.of("--token-file", file.toString()),
            List.of("--join", "127.0.0.1:1", "--secret", file.toString()),
            List.of("--tls-certificate", file.toString(), "--tls-key", file.toString()))) {
      String said = refused(data, options);
      assertTrue(said.contains("run chmod o-rwx " + file), said);
    }
    String said = refused(data, List.of("--join", "127.0.0.1:1"));
    assertTrue(said.contains("--join needs the secret of the servers"), said);
  }

  @Test
  void aStoreOfSeveralServersWithoutASecretStartsOnlyWithOneOrWhenToldSo(@TempDir Path directory)
      throws Exception {
    Path data = directory.resolve("data");
    try (var server = ServerProcess.start(data, List.of("--replicated"))) {
      assertTrue(server.stop());
    }
    Path own = data.resolve(SecretFile.NAME);
    Path secret = Files.move(own, directory.resolve("secret"));
    String said = refused(data.toString(), List.of());
    assertTrue(said.contains(data + " is of a store without a secret of the servers"), said);
    assertTrue(said.contains("start each server with --secret FILE"), said);
    assertFalse(Files.exists(own));
    try (var server = ServerProcess.start(data, List.of("--insecure"))) {
      assertTrue(server.stop());
    }
    assertFalse(Files.exists(own));
    try (var server = ServerProcess.start(data, List.of("--secret", secret.toString()))) {
      assertTrue(server.stop());
    }
    assertEquals(Files.readString(secret), Files.readString(own));
  }

  private static String refused(String data, List<String> options) {
    var command = new ArrayList<>(List.of("serve", "--data", data, "--listen", "127.0.0.1:0"));
    command.addAll(options);
    var err = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(new StringWriter()),
            new PrintWriter(err),
            command.toArray(String[]::new));
    assertEquals(1, code, err::toString);
    return err.toString();
  }

  @Test
  void saysWhatToDoWhenAnotherOneListensThere(@TempDir Path directory) throws IOException {
    try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + other.getLocalPort();
      for (String option : List.of("--shards=1", "--replicated")) {
        var err = new StringWriter();
        String data = directory.resolve(option).toString();
        int code =
            Main.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(err),
                "serve",
                "--data",
                data,
                "--listen",
                address,
                option);
        assertEquals(1, code, err::toString);
        assertTrue(err.toString().contains("cannot be started at " + address), err::toString);
        assertTrue(err.toString().contains("choose another address with --listen"), err::toString);
      }
    }
  }

  @Test
  @SuppressWarnings("unchecked") // Justification: the class was compiled here
  void anEndlessCallOfAUsersClassIsSeenCancelledAndReallyStopped(@TempDir Path directory)
      throws Exception {
    Path jar = jar(directory);
    var options = List.of("--classpath", jar.toString());
    try (var server = ServerProcess.start(directory.resolve("data"), options);
        var loader = new URLClassLoader(new URL[] {jar.toUri().toURL()});
        Stoa stoa = Stoa.open(server.url())) {
      var program =
          (Function<String, Object>)
              loader.loadClass("app.Program").getConstructor(Stoa.class).newInstance(stoa);
      assertEquals(1L, program.apply("tally"));
      var spin = (CompletableFuture<Long>) program.apply("spin");
      String call = spinning(server);
      for (long i = 2; i < 100; i++) assertEquals(i, program.apply("tally"));
      assertTrue(isInside(server));

      assertTrue(stoa(0, "cancel", call, "--server", server.address()).contains("is taken back"));
      var failed = assertThrows(CompletionException.class, spin::join);
      var cause = assertInstanceOf(CallFailed.class, failed.getCause());
      assertTrue(String.valueOf(cause.getMessage()).contains("an operator"), cause::toString);
      while (isInside(server)) Thread.onSpinWait();
      assertEquals(0L, program.apply("turns"));
      assertTrue(stoa(1, "cancel", call, "--server", server.address()).contains("no call " + call));
      assertEquals(100L, program.apply("tally"));
      assertTrue(server.stop());
    }
  }
}
