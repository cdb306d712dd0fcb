package stoa.sinks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.sinks.JsonLinesTest.Account;
import stoa.sinks.run.Main;

/// The program of the sinks at a server.
class SinkCommandTest {
  private static String shown(String line) {
    String key = line.replaceAll(".*\"key\":\"(\\w+)\".*", "$1");
    String op = line.replaceAll(".*\"op\":\"(.)\".*", "$1");
    String after = line.replaceAll(".*\"after\":(null|\\{[^}]*}).*", "$1").replaceAll("\\D+", "");
    return key + " " + op + " " + after;
  }

  private static List<String> shown(Path file, int from) throws Exception {
    return Files.readAllLines(file).stream().skip(from).map(SinkCommandTest::shown).toList();
  }

  @Test
  void aProgramThatStartsAgainGoesOnAndOneThatWasAwayTooLongBeginsAnew(@TempDir Path folder)
      throws Exception {
    Path file = folder.resolve("accounts.jsonl");
    try (var served = new ServedSink("audit", "file:" + file);
        Stoa stoa = Stoa.open("stoa://" + served.address())) {
      Account alice = stoa.get(Account.class, "alice");
      Account bob = stoa.get(Account.class, "bob");
      alice.add(5);
      bob.add(7);
      assertEquals("2 changes", served.once());
      alice.add(1);
      assertEquals("1 change", served.once());
      assertEquals("0 changes", served.once());
      assertEquals(List.of("alice r 5", "bob r 7", "alice u 6"), shown(file, 0));
      assertEquals("audit", stoa.subscriptions().getFirst().name());

      // The store keeps nothing more for the sink, as when it was away for too long.
      assertTrue(stoa.unsubscribe("audit"));
      stoa.delete(bob);
      for (int i = 0; i < 10; i++) alice.add(1);
      long version = stoa.history(alice).version();
      assertEquals(version, stoa.history(alice).trim(version));
      assertEquals("1 change", served.once());
      assertEquals(List.of("alice r 16", "bob d "), shown(file, 3));
      alice.add(1);
      assertEquals("1 change", served.once());
      assertEquals(List.of("alice u 17"), shown(file, 5));
    }
  }

  @Test
  void aSinkWithNothingToWriteRemembersHowFarItCame(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("accounts.jsonl");
    try (var served = new ServedSink("audit", "file:" + file);
        Stoa stoa = Stoa.open("stoa://" + served.address())) {
      assertEquals("0 changes", served.once());
      Account alice = stoa.get(Account.class, "alice");
      alice.add(5);
      alice.add(1);
      assertEquals("2 changes", served.once());
      assertEquals(List.of("alice c 5", "alice u 6"), shown(file, 0));
      var _ = Files.write(file, List.of()); // a file that was emptied begins anew
      assertEquals("1 change", served.once());
      assertEquals(List.of("alice r 6"), shown(file, 0));
    }
  }

  @Test
  void aSinkFollowsUntilItIsStoppedAndAcknowledgesWhatItHasWritten(@TempDir Path folder)
      throws Exception {
    Path file = folder.resolve("accounts.jsonl");
    try (var served = new ServedSink("audit", "file:" + file);
        Stoa stoa = Stoa.open("stoa://" + served.address())) {
      Account alice = stoa.get(Account.class, "alice");
      var ignored = new PrintWriter(new StringWriter());
      var begun = stoa.subscribe("audit", Duration.ofDays(1)).position();
      Thread program = new Thread(() -> Main.run(ignored, ignored, served.arguments()));
      program.start();
      for (int i = 1; i <= 3; i++) {
        alice.add(i);
        // The program acknowledges what is in the file: once a second at most.
        var now = stoa.subscriptions().getFirst().position();
        while (now.compareTo(begun) <= 0) now = stoa.subscriptions().getFirst().position();
        begun = now;
      }
      program.interrupt();
      program.join();
      var _ = served.once();
      assertEquals("alice u 6", shown(file, 0).getLast());
    }
  }

  @Test
  void aWrongInvocationNamesItsRemedy() throws Exception {
    try (var served = new ServedSink("audit", "ftp://x")) {
      var out = new StringWriter();
      var writer = new PrintWriter(out);
      String[] arguments = served.arguments("--table", "t");
      assertEquals(2, Main.run(writer, writer, arguments));
      arguments = served.arguments();
      assertEquals(1, Main.run(writer, writer, arguments));
      arguments[6] = "shop.Order";
      assertEquals(1, Main.run(writer, writer, arguments));
      String said = out.toString();
      assertTrue(said.contains("--table is for jdbc:postgresql:..."), said);
      assertTrue(said.contains("\"ftp://x\" is no place for changes"), said);
      assertTrue(said.contains("add the jar that has it to --classpath"), said);
    }
  }
}
