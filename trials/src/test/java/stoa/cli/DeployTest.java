package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.History;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// The code of shared types changes while servers have the store open.
class DeployTest {
  private static final String METER = "@Shared(name = \"meter\") public class Meter { ";

  /* Answers how much the call has added. */
  private static final String ONCE =
      METER
          + "private long total;"
          + "public long add(long n) { long was = total; total += n; return total - was; }"
          + "@Accessor public long total() { return total; } }";

  private static final String TWICE =
      METER
          + "private long total;"
          + "public long add(long n) { long was = total; total += 2 * n; return total - was; }"
          + "@Accessor public long total() { return total; } }";

  private static final String NARROW =
      METER
          + "private int total;"
          + "public long add(long n) { total += n; return n; }"
          + "@Accessor public long total() { return total; } }";

  private static final int METERS = 50;

  @TempDir private Path directory;

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  private Build build(String name, String... sources) throws IOException {
    return new Build(directory.resolve(name), sources);
  }

  private static long then(Stoa stoa, Object meter, long version) {
    History<Object> history = stoa.history(meter);
    return (long) total(history.at(version));
  }

  private static Object total(Object meter) {
    Object total = Build.call(meter, "total");
    assertNotNull(total);
    return total;
  }

  /// Calls in a loop, until it is told to stop, and counts the calls that added so much.
  private static final class Calling implements AutoCloseable {
    private final AtomicLong[] added = {new AtomicLong(), new AtomicLong(), new AtomicLong()};
    private final AtomicBoolean stops = new AtomicBoolean();
    private final CompletableFuture<Long> end;

    Calling(Build program, String url) {
      end =
          CompletableFuture.supplyAsync(() ->
              program.client(
                  url,
                  stoa -> {
                    Object meter = program.object(stoa, "Meter", "called");
                    long sum = 0;
                    while (!stops.get()) {
                      long now = (long) Objects.requireNonNull(Build.call(meter, "add", 1L));
                      added[(int) now].incrementAndGet();
                      sum += now;
                    }
                    assertEquals(sum, total(meter));
                    return sum;
                  }));
    }

    long added(int amount) {
      return added[amount].get();
    }

    /// Waits until some more calls have added so much; the call that was under way may be another.
    void await(int amount) {
      long from = added(amount);
      while (added(amount) < from + 20 && !end.isDone()) Thread.onSpinWait();
      if (end.isDone()) end.join();
    }

    long stop() {
      stops.set(true);
      return end.join();
    }

    @Override
    public void close() {
      stops.set(true);
    }
  }

  @Test
  void clientsGoOnWhileOtherCodeIsDeployedAndRolledBack() throws Exception {
    Build once = build("once", ONCE);
    Build twice = build("twice", TWICE);
    Build narrow = build("narrow", NARROW);
    Build other = build("other", "@Shared public class Other { public int one() { return 1; } }");
    Path data = directory.resolve("data");
    try (var server = ServerProcess.start(data, List.of("--classpath", once.path()))) {
      String at = server.address();
      once.client(
          server.url(),
          stoa -> {
            for (int i = 0; i < METERS; i++) Build.call(once.object(stoa, "Meter", i), "add", 7L);
            return null;
          });
      try (var calling = new Calling(once, server.url())) {
        calling.await(1);
        String checked = stoa(0, "check", "--classpath", twice.path(), "--server", at);
        assertTrue(
            checked.matches(
                "meter  changed: 51 objects tried; \\d+ of \\d+ calls replayed come to something else;"
                    + " the first is meter.*, version \\d+, add\\(long\\): \\d+ before; now \\d+\n"),
            checked);
        assertEquals("meter  same\n", stoa(0, "deploy", once.path(), "--server", at));
        assertEquals(
            "meter  changed: 51 objects tried\n", stoa(0, "deploy", twice.path(), "--server", at));
        calling.await(2);
        long before = calling.added(1);
        calling.await(2);
        assertEquals(before, calling.added(1), "calls after the deployment follow the new code");
        assertEquals("v.Other  new\n", stoa(0, "deploy", other.path(), "--server", at));

        String refused = stoa(1, "check", "--classpath", narrow.path(), "--server", at);
        assertTrue(refused.startsWith("meter  REFUSED"), refused);
        assertTrue(refused.contains("total"), refused);
        String kept = stoa(1, "deploy", narrow.path(), "--server", at);
        assertTrue(kept.startsWith(refused), kept);
        assertTrue(kept.contains("nothing was deployed"), kept);
        calling.await(2);

        stoa(0, "deploy", "--rollback", "meter", "--server", at);
        calling.await(1);
        before = calling.added(2);
        calling.await(1);
        assertEquals(before, calling.added(2), "calls after the rollback follow the old code");
        long sum = calling.stop();
        once.client(
            server.url(),
            stoa -> {
              Object meter = once.object(stoa, "Meter", "called");
              assertEquals(sum, total(meter));
              assertEquals(1, then(stoa, meter, 1));
              assertEquals(20, then(stoa, meter, 20));
              assertEquals(7L, total(once.object(stoa, "Meter", 3)));
              return null;
            });
        List<String> listed = stoa(0, "deploy", "--list", "--server", at).lines().toList();
        assertEquals(5, listed.size(), listed::toString);
        assertEquals("meter", listed.get(0));
        assertTrue(listed.get(1).endsWith("  active"), listed::toString);
        assertFalse(listed.get(2).contains("active"), listed::toString);
        String second = listed.get(2).strip();
        stoa(0, "deploy", "--rollback", "meter", "--to", second, "--server", at);
        String unknown = stoa(1, "deploy", "--rollback", "none", "--server", at);
        assertTrue(unknown.contains("has no type none"), unknown);
        String reset = "meter.total reset";
        assertTrue(refused.contains("accept the loss \"" + reset + "\""), refused);
        assertRefused("meter.totals reset", twice, at);
        assertRefused(reset, once, at);
        stoa(0, "deploy", narrow.path(), "--accept", reset, "--server", at);
        String lossy = stoa(0, "deploy", "--list", "--server", at);
        assertTrue(lossy.contains("  active\n    accepted: " + reset + "\n"), lossy);
        once.client(
            server.url(),
            stoa -> {
              Object quiet = once.object(stoa, "Meter", 3);
              Object meter = once.object(stoa, "Meter", 4);
              assertEquals(0L, total(quiet));
              assertEquals(1L, Build.call(meter, "add", 1L));
              assertEquals(1L, total(meter));
              stoa(0, "deploy", "--rollback", "meter", "--server", at);
              assertEquals(7L, total(quiet), "no call has passed its state on");
              assertEquals(1L, total(meter));
              assertEquals(7, then(stoa, meter, 1));
              return null;
            });
      }
      assertTrue(server.stop());
    }
  }

  /// Refuses to deploy with an accepted loss that the classes do not have.
  private static void assertRefused(String loss, Build program, String server) {
    String told = stoa(1, "deploy", program.path(), "--accept", loss, "--server", server);
    assertTrue(told.contains("REFUSED: \"" + loss + "\" is accepted"), told);
    assertTrue(told.contains("nothing was deployed"), told);
  }

  /// Calls each of some meters once more; answers by how much the calls have added together, and
  /// fails when a call adds less than the one before.
  private static void callAll(Build program, String url, Map<Integer, List<Long>> added) {
    program.client(
        url,
        stoa -> {
          for (int i = 0; i < METERS; i++) {
            List<Long> before = added.computeIfAbsent(i, _ -> new ArrayList<>());
            Object meter = program.object(stoa, "Meter", i);
            before.add((Long) Build.call(meter, "add", 1L));
            long sum = before.stream().mapToLong(Long::longValue).sum();
            assertEquals(sum, total(meter), () -> "meter " + meter + " after " + before);
          }
          return null;
        });
  }

  private ServerProcess start(String name, List<String> options) throws IOException {
    String classes = build("classes-" + name, ONCE).path();
    var all = new ArrayList<>(List.of("--name", name, "--classpath", classes));
    all.addAll(options);
    return ServerProcess.start(directory.resolve(name), all);
  }

  /// Stops a server, gives it the other classes, and starts it again.
  private ServerProcess upgraded(ServerProcess server, String name) throws Exception {
    assertTrue(server.stop());
    var _ = build("classes-" + name, TWICE);
    return server.startAgain();
  }

  @Test
  void serversThatGetOtherClassesInTurnAgreeAllTheTime() throws Exception {
    Build client = build("client", ONCE);
    var added = new TreeMap<Integer, List<Long>>();
    var servers = new ArrayList<ServerProcess>();
    var names = List.of("one", "two", "three");
    try {
      servers.add(start("one", List.of("--replicated", "--groups", "2")));
      for (String name : names.subList(1, 3)) {
        servers.add(start(name, servers.getFirst().joining()));
      }
      for (int i = 0; i < 3; i++) callAll(client, servers.getFirst().url(), added);
      for (int i = 0; i < 3; i++) {
        servers.set(i, upgraded(servers.get(i), names.get(i)));
        callAll(client, servers.get(i).url(), added);
        String status = stoa(0, "status", "--server", servers.get(i).address());
        assertFalse(status.contains("quarantine"), status);
      }
      // Each meter went on with the new meaning at some time, and stayed with it.
      added.forEach((meter, all) -> {
        assertEquals(all.stream().sorted().toList(), all, () -> "meter " + meter);
        assertEquals(List.of(1L, 1L, 1L), all.subList(0, 3));
        assertEquals(2, all.getLast());
      });
      client.client(
          servers.getFirst().url(),
          stoa -> {
            for (int i = 0; i < METERS; i++) {
              assertEquals(3, then(stoa, client.object(stoa, "Meter", i), 3));
            }
            return null;
          });
      awaitCompared(servers);
      String first = servers.getFirst().address();
      stoa(0, "deploy", "--rollback", "meter", "--server", first);
      callAll(client, servers.getFirst().url(), added);
      added.forEach((_, all) -> assertEquals(1, all.getLast()));
      String listed = stoa(0, "deploy", "--list", "--server", first);
      assertEquals(3, listed.lines().count(), listed);
      assertFalse(listed.contains("active in"), listed);
      Build twice = build("twice", TWICE);
      String deployed = stoa(0, "deploy", twice.path(), "--server", servers.get(2).address());
      assertEquals("meter  changed: 50 objects tried\n", deployed);
      callAll(client, servers.getFirst().url(), added);
      added.forEach((_, all) -> assertEquals(2, all.getLast()));
      Build narrow = build("narrow", NARROW);
      assertRefused("meter.x removed", narrow, first);
      stoa(0, "deploy", narrow.path(), "--accept", "meter.total reset", "--server", first);
      String lossy = stoa(0, "deploy", "--list", "--server", first);
      assertTrue(lossy.contains("  active\n    accepted: meter.total reset\n"), lossy);
      assertEquals(
          "0 objects continue with the state of the server that leads\n",
          stoa(0, "accept", "--all", "--server", first));
    } finally {
      servers.forEach(ServerProcess::close);
    }
  }

  /// Waits until each server has compared states of the group that it follows with the leader's.
  private static void awaitCompared(List<ServerProcess> servers) {
    for (ServerProcess server : servers) {
      var operator = new Operator(server.address(), null, null, "--server");
      boolean compared = false;
      while (!compared) {
        StatusReply status =
            operator.askItself(asked -> asked.status(StatusRequest.getDefaultInstance()));
        compared = true;
        for (ServerStatus one : status.getServersList()) {
          if (!one.getClientAddress().equals(server.address())) continue;
          for (MemberStatus member : one.getGroupsList()) {
            assertEquals(0, member.getDiffered());
            compared &= member.getLeads() || member.getCompared() > 0;
          }
        }
      }
    }
  }

  @Test
  void aServerWithoutClassPathExecutesWhatIsDeployed() throws Exception {
    String note = "public record Note(String text, int stars) {}";
    String kind = "public enum Kind { GOOD, BAD }";
    String head = "@Shared(name = \"pad\") public class Pad { ";
    String body =
        "private final Map<Kind, List<Note>> notes = new TreeMap<>();"
            + "public int write(Kind kind, Note note) {"
            + " notes.computeIfAbsent(kind, _ -> new ArrayList<>()).add(note);"
            + " return notes.get(kind).size(); }"
            + "@Accessor public String text() { return notes.toString(); }";
    String client =
        "public class Client { public static Object note() { return new Note(\"a\", 1); }"
            + " public static Object kind() { return Kind.BAD; } }";
    Build pads = build("pads", note, kind, head + body + "}", client);
    String more = "@Accessor public int kinds() { return notes.size(); }";
    Build counted = build("counted", note, kind, head + body + more + "}", client);
    Path data = directory.resolve("data");
    var server = ServerProcess.start(data);
    try {
      String at = server.address();
      var absent = assertThrows(NotShareable.class, () -> write(pads, server.url())).getMessage();
      assertTrue(String.valueOf(absent).contains("Pad"), absent);
      assertTrue(String.valueOf(absent).contains("--client-classes"), absent);
      assertEquals("pad  new\n", stoa(0, "deploy", pads.path(), "--server", at));
      assertEquals(1, write(pads, server.url()));
      assertEquals(2, write(pads, server.url()));
      stoa(0, "deploy", counted.path(), "--server", at);
      assertEquals(3, write(pads, server.url()));
      server.kill();
      try (var again = server.startAgain()) {
        assertEquals(4, write(pads, again.url()));
        counted.client(
            again.url(),
            stoa -> {
              Object pad = counted.object(stoa, "Pad", "p");
              assertEquals(1, Build.call(pad, "kinds"));
              History<Object> history = stoa.history(pad);
              String first = "{BAD=[Note[text=a, stars=1]]}";
              assertEquals(first, Build.call(history.at(1), "text"));
              return null;
            });
      }
    } finally {
      server.close();
    }
  }

  @Test
  void aClientBringsTheClassesThatTheStoreHasNeverHad() throws Exception {
    Build once = build("once", ONCE);
    Build twice = build("twice", TWICE);
    Path data = directory.resolve("data");
    try (var server = ServerProcess.start(data, List.of("--client-classes"))) {
      String url = server.url();
      assertEquals(5, add(once, url));
      // The store has the type: only a deployment changes its code.
      assertEquals(5, add(twice, url));
      assertTrue(server.stop());
    }
    try (var server = ServerProcess.start(data)) {
      assertEquals(5, add(twice, server.url()));
      once.client(
          server.url(),
          stoa -> {
            Object meter = once.object(stoa, "Meter", 1);
            assertEquals(15L, total(meter));
            assertEquals(5, then(stoa, meter, 1));
            return null;
          });
    }
  }

  @Test
  void onlyTokensThatSaySoMayDeploy() throws Exception {
    Build once = build("once", ONCE);
    String plain = token("plain");
    String boss = token("boss deploy");
    var options = List.of("--client-classes", "--token-file", token("plain\nboss deploy"));
    try (var server = ServerProcess.start(directory.resolve("data"), options)) {
      String[] deploy = {
        "deploy", once.path(), "--server", server.address(), "--token-file", plain
      };
      String refused = stoa(1, deploy);
      assertTrue(refused.contains("the identity token-1 has not the role deploy on"), refused);
      String absent =
          String.valueOf(
              assertThrows(NotShareable.class, () -> add(once, server.url(), "plain"))
                  .getMessage());
      assertTrue(absent.contains("Meter"), absent);
      assertEquals(5, add(once, server.url(), "boss"));
      deploy[5] = boss;
      assertEquals("meter  same\n", stoa(0, deploy));
      assertEquals(5, add(once, server.url(), "plain"));
    }
  }

  private String token(String text) throws IOException {
    Path file = directory.resolve("token" + text.length());
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file.toString();
  }

  private static long add(Build program, String url, String token) {
    var config = StoaConfig.of(url).withSecurity(ConnectionSecurity.none().withToken(token));
    return program.client(config, stoa -> added(program, stoa));
  }

  private static long added(Build program, Stoa stoa) {
    Object meter = program.object(stoa, "Meter", 1);
    return (Long) Objects.requireNonNull(Build.call(meter, "add", 5L));
  }

  private static long add(Build program, String url) {
    return program.client(
        url,
        stoa -> {
          Object meter = program.object(stoa, "Meter", 1);
          return (Long) Objects.requireNonNull(Build.call(meter, "add", 5L));
        });
  }

  private static int write(Build program, String url) {
    return program.client(
        url,
        stoa -> {
          Object kind = program.callStatic("Client", "kind");
          Object note = program.callStatic("Client", "note");
          return (Integer) Build.call(program.object(stoa, "Pad", "p"), "write", kind, note);
        });
  }

  @Test
  void aClientsClassMayDifferInWhatOnlyServersUse() throws Exception {
    String reset = "public long reset() { total = 0; return 0; } ";
    String end = ONCE.substring(METER.length());
    Build first = build("first", METER + reset + end);
    Build other =
        build(
            "other",
            METER
                + "private final List<String> notes = new ArrayList<>(); private int sum = 12;"
                + "public long add(long n) { notes.add(\"\" + n); return 1_000; }"
                + "@Accessor public long total() { return -1; } }");
    try (var server =
        ServerProcess.start(directory.resolve("data"), List.of("--classpath", first.path()))) {
      first.client(server.url(), stoa -> Build.call(first.object(stoa, "Meter", 1), "add", 5L));
      other.client(
          server.url(),
          stoa -> {
            Object meter = other.object(stoa, "Meter", 1);
            assertEquals(2L, Build.call(meter, "add", 2L));
            assertEquals(7L, total(meter));
            return null;
          });
      // A local view runs accessors here, on the state that the server sends.
      first.client(
          server.url(),
          stoa -> {
            Object meter = first.local(stoa, "Meter", 1);
            assertEquals(7L, total(meter));
            return null;
          });
      first.client(
          server.url(),
          stoa -> {
            Object meter = first.object(stoa, "Meter", 1);
            assertEquals(0L, Build.call(meter, "reset"));
            assertEquals(3L, Build.call(meter, "add", 3L));
            String kept =
                stoa(1, "deploy", built("silent", TWICE).path(), "--server", server.address());
            assertTrue(kept.contains("@Removed(\"reset()\")"), kept);
            Build without = built("without", "@Removed(\"reset()\") " + TWICE);
            String deployed = stoa(0, "deploy", without.path(), "--server", server.address());
            assertEquals("meter  changed: 1 object tried\n", deployed);
            assertEquals(6L, Build.call(meter, "add", 3L));
            var gone = assertThrows(NotShareable.class, () -> Build.call(meter, "reset"));
            String why = String.valueOf(gone.getMessage());
            assertTrue(why.contains("v.Meter has the method reset() no more"), why);
            assertEquals(6L, Build.call(meter, "add", 3L));
            return null;
          });
      first.client(
          server.url(),
          stoa -> {
            Object meter = first.object(stoa, "Meter", 1);
            assertEquals(15L, total(meter));
            assertEquals(15L, total(first.local(stoa, "Meter", 1)));
            var gone = assertThrows(NotShareable.class, () -> Build.call(meter, "reset"));
            assertTrue(String.valueOf(gone.getMessage()).contains("reset()"), gone::toString);
            assertEquals(15L, total(meter));
            return null;
          });
    }
  }

  private Build built(String name, String source) {
    try {
      return build(name, source);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aClassThatIsNotThereIsNamedWithTheClassThatNeedsIt() throws Exception {
    Build lis =
        build(
            "lis",
            "public class Lis { @Shared(name = \"lis\") public static class Counter {"
                + " private int n; public int add() { return ++n; } } }");
    Path path = Path.of(lis.path());
    Files.delete(path.resolve("v/Lis.class"));
    assertEquals(
        List.of(
            "v.Lis$Counter: "
                + path
                + " has no class v.Lis, which it needs; add that class, or the jar that has it"),
        SharedClasses.of(List.of(path)).refusals());
  }

  @Test
  void aDirectoryIsCheckedAndStaysAsItIs() throws Exception {
    Build once = build("once", ONCE);
    Build twice = build("twice", TWICE);
    Build narrow = build("narrow", NARROW);
    for (String options : List.of("", "?shards=2")) {
      Path data = directory.resolve("data" + options.length());
      once.client(
          "file:" + data + options,
          stoa -> {
            for (int i = 0; i < METERS; i++) Build.call(once.object(stoa, "Meter", i), "add", 7L);
            return null;
          });
      Map<Path, String> before = contents(data);
      assertEquals("meter  same\n", check(0, once, data));
      String changed = check(0, twice, data);
      assertTrue(
          changed.matches(
              "meter  changed: 50 objects tried; 50 of 50 calls replayed come to something else; the"
                  + " first is meter.*, version 1, add\\(long\\): 7 before; now 14\n"),
          changed);
      String refused = check(1, narrow, data);
      assertTrue(refused.startsWith("meter  REFUSED"), refused);
      assertEquals(before, contents(data));
    }
    String none = stoa(2, "check", "--data", once.path(), "--classpath", once.path());
    assertTrue(none.contains("holds no store"), none);
  }

  private static String check(int exitCode, Build build, Path data) {
    return stoa(exitCode, "check", "--data", data.toString(), "--classpath", build.path());
  }

  private static Map<Path, String> contents(Path data) throws IOException {
    var contents = new TreeMap<Path, String>();
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        contents.put(file, stoa.base.StreamId.of(Files.readAllBytes(file)).toString());
      }
    }
    return contents;
  }
}
