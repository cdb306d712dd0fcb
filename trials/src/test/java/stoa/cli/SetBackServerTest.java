package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;
import stoa.programs.Directories;
import stoa.wire.proto.StatusRequest;

/// One of three servers whose directory is replaced by an older copy of it.
class SetBackServerTest {
  private static final int SERVERS = 3;

  @Shared(name = "test.Tally", key = "id")
  static class Tally {
    private final String id;
    private int count;

    protected Tally(String id) {
      this.id = id;
    }

    public int count() {
      return ++count;
    }

    @Accessor
    public String name() {
      return id;
    }
  }

  @TempDir private Path directory;

  @Test
  void isNoticedAndLosesNoCallThatItHadAcknowledged() throws Exception {
    var servers = new ArrayList<ServerProcess>();
    try {
      servers.add(start("one", List.of("--replicated", "--groups", "1")));
      servers.add(start("two", servers.getFirst().joining()));
      servers.add(start("three", servers.getFirst().joining()));
      PlacementWait.await(servers.getFirst().address(), SERVERS);
      var url = String.join(",", servers.stream().map(ServerProcess::address).toList());
      try (var stoa = Stoa.open("stoa://" + url)) {
        Tally tally = stoa.get(Tally.class, "a");
        assertEquals(1, tally.count());
        int leads = leader(servers);
        ServerProcess leader = servers.get(leads);
        ServerProcess spare = servers.get((leads + 1) % SERVERS);
        int which = (leads + 2) % SERVERS;

        Path place = Path.of(servers.get(which).directory());
        Path older = directory.resolve("older");
        servers.get(which).kill();
        copy(place, older);
        servers.set(which, servers.get(which).startAgain());

        // A majority needs the one that will be set back.
        spare.pause();
        for (int i = 2; i <= 20; i++) assertEquals(i, tally.count());
        spare.resume();
        servers.get(which).kill();
        Directories.delete(place);
        copy(older, place);
        servers.set(which, servers.get(which).startAgain());

        int count = 20;
        String status = status(leader);
        while (!status.contains("alarm: ")) {
          assertEquals(++count, tally.count());
          status = status(leader);
        }
        String alarm = "alarm: server " + place.getFileName() + ", group 0: its replica ";
        assertTrue(status.contains(alarm), status);
        assertTrue(status.contains("was put back to an older copy: it had acknowledged "), status);

        // It has all again, and a majority needs it.
        PlacementWait.await(leader.address(), SERVERS);
        leader.kill();
        assertEquals(++count, tally.count());
      }
    } finally {
      servers.forEach(ServerProcess::close);
    }
  }

  private ServerProcess start(String name, List<String> options) throws IOException {
    var named = new ArrayList<>(List.of("--name", name));
    named.addAll(options);
    // A server of a cluster needs no Unsafe.
    var site = ServerProcess.Site.LOOPBACK.with(List.of("--sun-misc-unsafe-memory-access=deny"));
    return ServerProcess.start(site, directory.resolve(name), 0, named);
  }

  /// Which of some servers leads; waits until one does.
  private static int leader(List<ServerProcess> servers) {
    while (true) {
      for (int which = 0; which < servers.size(); which++) {
        var operator = new Operator(servers.get(which).address(), null, null, "--server");
        var status = operator.ask(asked -> asked.status(StatusRequest.getDefaultInstance()));
        if (status.getRole().equals("leads")) return which;
      }
      Thread.onSpinWait();
    }
  }

  private static String status(ServerProcess server) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(0, Main.run(out, out, "status", "--server", server.address()), text::toString);
    return text.toString();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, to.resolve(from.relativize(file)));
      }
    }
  }
}
