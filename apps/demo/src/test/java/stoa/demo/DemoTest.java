package stoa.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.stacksync.User;
import stoa.stacksync.replay.Trace;
import stoa.stacksync.replay.TraceIds;
import stoa.stacksync.replay.TraceRow;
import stoa.stacksync.replay.Verification;

class DemoTest {
  @TempDir private Path directory = Path.of("");

  @Test
  void replaysVerifiesAndLooksBackThenContinues() throws IOException {
    var trace = trace(150);
    var data = directory.resolve("data");
    var first = run("demo", "--data", data.toString(), "--trace", trace.toString());
    assertEquals(0, first.exitCode(), first.text());
    assertTrue(first.text().contains("commits/s from 8 clients"), first.text());
    assertTrue(first.text().contains("verified"), first.text());
    assertTrue(first.text().contains("then version"), first.text());
    assertTrue(first.text().contains(data.toString()), first.text());
    assertFalse(first.text().contains("\r"), first.text());

    var second = run("demo", "--data", data.toString(), "--trace", trace.toString());
    assertEquals(0, second.exitCode(), second.text());
    assertTrue(second.text().contains("nothing is left to commit"), second.text());
    assertTrue(second.text().contains("verified"), second.text());

    var longer = run("demo", "--data", data.toString(), "--trace", trace(200).toString());
    assertEquals(0, longer.exitCode(), longer.text());
    assertTrue(longer.text().contains("that were there already"), longer.text());
  }

  @Test
  void failsWhenSomethingDoesNotVerify() throws IOException {
    var trace = trace(20);
    var data = directory.resolve("data");
    run("demo", "--data", data.toString(), "--trace", trace.toString());
    try (var store = Stoa.open("file:" + data)) {
      store.get(User.class, TraceIds.user(0)).adjust(7);
    }
    var again = run("demo", "--data", data.toString(), "--trace", trace.toString());
    assertEquals(1, again.exitCode(), again.text());
    assertTrue(again.text().contains("WRONG     1 finding"), again.text());
  }

  @Test
  void everythingAcknowledgedIsThereOnceAfterKills() throws IOException {
    var trace = trace(400);
    var data = directory.resolve("data");
    var crash =
        run(
            "demo",
            "--crash",
            "--seed",
            "3",
            "--kills",
            "2",
            "--data",
            data.toString(),
            "--trace",
            trace.toString());
    assertEquals(0, crash.exitCode(), crash.text());
    assertTrue(crash.text().contains("2 kills: "), crash.text());
    assertTrue(crash.text().contains("none of them lost"), crash.text());
    var again = run("demo", "--crash", "--data", data.toString());
    assertEquals(1, again.exitCode(), again.text());
    assertTrue(again.text().contains("is not empty; this needs a new directory"), again.text());
  }

  @Test
  void eachDesignVerifiesAndAStoreStaysInItsOwn() throws IOException {
    var trace = trace(40).toString();
    for (var design : List.of("everything-shared", "items-embedded", "facade-alone")) {
      var data = directory.resolve(design).toString();
      var result = run("demo", "--design", design, "--data", data, "--trace", trace);
      assertEquals(0, result.exitCode(), result.text());
      assertTrue(result.text().contains("design    " + design + ": "), result.text());
    }
    var data = directory.resolve("everything-shared").toString();
    var other = run("demo", "--design", "items-embedded", "--data", data, "--trace", trace);
    assertEquals(1, other.exitCode(), other.text());
    assertTrue(
        other.text().contains("in the design everything-shared, not items-embedded"), other.text());
  }

  @Tag("long")
  @Test
  void instancesCommitThroughAServerWhileBothAreKilled() throws IOException {
    var data = directory.resolve("data");
    var remote =
        run(
            "demo",
            "--remote",
            "--crash",
            "--seed",
            "4",
            "--kills",
            "2",
            "--clients",
            "3",
            "--design",
            "items-embedded",
            "--data",
            data.toString(),
            "--trace",
            trace(150).toString());
    assertEquals(0, remote.exitCode(), remote.text());
    assertTrue(remote.text().contains("none of them lost, none done twice"), remote.text());
    assertTrue(remote.text().contains("exactly what was acknowledged"), remote.text());
    try (var store = Stoa.open("file:" + data.resolve("items-embedded"))) {
      assertTrue(Verification.of(store, Trace.builtIn().firstRequests(150)).holds());
    }
  }

  @Test
  void killsAreChosenByTheSeedAndConcernEveryone() {
    var kills = Kills.choose(6, 1_000, 2, 7).list();
    assertEquals(kills, Kills.choose(6, 1_000, 2, 7).list());
    assertEquals(6, kills.size());
    assertEquals(3, kills.stream().map(kill -> kill.victim().getClass()).distinct().count());
    assertTrue(kills.stream().allMatch(kill -> kill.changes() > 0 && kill.changes() < 1_000));
    assertEquals(1, Kills.choose(6, 2, 2, 7).list().size());
  }

  @Test
  void saysWhatToDoWhenCalledInAWrongWay() {
    assertTrue(run("help").text().contains("./stoa help"));
    var unknown = run("dmo");
    assertEquals(2, unknown.exitCode());
    assertTrue(unknown.text().contains("Did you mean: stoa demo?"), unknown.text());
    var missing = run("demo", "--trace", directory.resolve("none.gz").toString());
    assertEquals(1, missing.exitCode());
    assertTrue(missing.text().contains("cannot be read; name a gzipped file"), missing.text());
    var clients = run("demo", "--clients", "0");
    assertEquals(2, clients.exitCode());
    assertTrue(clients.text().contains("--clients 0: at least 1"), clients.text());
    var design = run("demo", "--design", "none");
    assertEquals(2, design.exitCode());
    assertTrue(design.text().contains("--design"), design.text());
  }

  private record Result(int exitCode, String text) {}

  private static Result run(String... args) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    int exitCode = Main.run(out, out, args);
    out.flush();
    return new Result(exitCode, text.toString());
  }

  /// Writes the first requests of the built-in trace to a file.
  private Path trace(int requests) throws IOException {
    var file = directory.resolve("trace-" + requests + ".csv.gz");
    try (var out =
        new BufferedWriter(
            new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(file)), StandardCharsets.UTF_8))) {
      out.write("ts,req,user,device,workspace,item,op,version,base,size,checksum,path,chunks\n");
      for (var row : Trace.builtIn().firstRequests(requests).rows()) out.write(text(row) + "\n");
    }
    return file;
  }

  private static String text(TraceRow row) {
    return "%d,%d,%d,%d,%s,%d,%s,%d,%d,%d,%x,%s,%s"
        .formatted(
            row.time(),
            row.request(),
            row.user(),
            row.device(),
            row.workspace(),
            row.item(),
            row.status(),
            row.version(),
            row.base(),
            row.size(),
            row.checksum(),
            row.path(),
            String.join(";", row.chunks()));
  }
}
