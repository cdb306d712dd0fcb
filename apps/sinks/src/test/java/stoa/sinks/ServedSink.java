package stoa.sinks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;
import stoa.sinks.run.Main;

/// A server, and the program of the sinks that follows it.
final class ServedSink implements AutoCloseable {
  private final Server server;
  private final String name;
  private final String place;

  /// Starts the server.
  ServedSink(String name, String place) throws IOException {
    server =
        Server.start(
            ServerConfig.of("127.0.0.1", 0),
            ObjectService.open(StoaConfig.of("memory:"), _ -> true));
    this.name = name;
    this.place = place;
  }

  String address() {
    return "127.0.0.1:" + server.port();
  }

  /// Returns the arguments of the program for accounts.
  String[] arguments(String... more) {
    var all = new ArrayList<>(List.of("sink", "--server", address(), "--name", name));
    all.addAll(List.of("--type", JsonLinesTest.Account.class.getName(), "--to", place));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  /// Runs the program until no change comes, and returns how many there were.
  String once() {
    var out = new StringWriter();
    var writer = new PrintWriter(out);
    assertEquals(0, Main.run(writer, writer, arguments("--once")), out::toString);
    List<String> lines = out.toString().lines().toList();
    assertTrue(lines.getFirst().startsWith("follows "), out::toString);
    return lines.getLast();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
