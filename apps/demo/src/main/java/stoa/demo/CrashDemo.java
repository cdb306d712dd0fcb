package stoa.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.programs.ChildProcess;
import stoa.programs.Directories;
import stoa.programs.Words;
import stoa.stacksync.replay.Trace;

/// The demo under `kill -9`: a replay runs in another process, which is killed at random moments.
///
/// Owned by the thread that calls [#run()].
final class CrashDemo {
  private static final int STARTING_MILLIS_MAX = 1_500;
  private static final int KILLS_WHILE_STARTING = 4; // One in so many.

  /*
   * (1) The process writes an acknowledged change into the pipe before it commits anything more on
   *     that client, and the pipe outlives it. So all its answers are here, except for the last
   *     answer of each client; those calls count as in progress.
   * (2) The next process lists what the store holds before it commits anything. An acknowledged
   *     change that is not listed is lost: it cannot have been committed a second time.
   * (3) That nothing happened twice shows at the end, in the versions of the files and in the sums
   *     of the quotas, see Verification.
   */
  private final PrintWriter out;
  private final Path parent;
  private final @Nullable Path wanted;
  private final Replayed scenario;
  private final int kills;
  private final long seed;
  private final Random random;
  private final Map<Long, Integer> acknowledged = new HashMap<>();
  private long acknowledgedCount;
  private long underWayCount;
  private long lostCount;
  private int checks;

  CrashDemo(
      PrintWriter out,
      Path parent,
      @Nullable Path wanted,
      Replayed scenario,
      int kills,
      long seed) {
    this.out = out;
    this.parent = parent;
    this.wanted = wanted;
    this.scenario = scenario;
    this.kills = kills;
    this.seed = seed;
    this.random = new Random(seed);
  }

  /// When to kill a process.
  private sealed interface Moment {
    /// A time after its start.
    record Starting(int millis) implements Moment {}

    /// When it has acknowledged so many changes.
    record Committing(int changes) implements Moment {}

    /// Not at all.
    record Never() implements Moment {}
  }

  private enum End {
    KILLED,
    FINISHED,
    FAILED
  }

  /// Runs it.
  ///
  /// @return whether everything that was acknowledged is there once
  boolean run() throws IOException, InterruptedException {
    var trace = scenario.trace();
    var directory = Directories.fresh(wanted, parent, "crash-");
    out.println("StackSync replays a real history in a process that is killed again and again.");
    Demo.line(out, "store", directory + " (new)");
    Demo.line(out, "history", Demo.describe(trace));
    Demo.line(out, "design", Replayed.describe(scenario.design()));
    Demo.line(out, "seed", seed + "  (--seed " + seed + " chooses the same moments)");
    var end = End.KILLED;
    int killed = 0;
    while (end == End.KILLED) {
      var moment = killed < kills ? moment(trace) : new Moment.Never();
      if (killed == kills) Demo.line(out, "at last", "the rest, without a kill");
      end = replay(directory, moment, killed + 1);
      if (end == End.KILLED) killed++;
    }
    if (end == End.FAILED) {
      Demo.line(out, "FAILED", "the replaying process ended by itself; its store is " + directory);
      return false;
    }
    Demo.line(
        out,
        lostCount == 0 ? "proved" : "WRONG",
        "%s: %s acknowledged, %s of them lost; %s more were in progress at a kill and are there"
            .formatted(
                Words.count(killed, "kill"),
                Words.count(acknowledgedCount, "change"),
                lostCount == 0 ? "none" : Words.count(lostCount),
                Words.count(underWayCount)));
    boolean verified;
    try (var store = Stoa.open("file:" + directory)) {
      verified = Demo.verify(out, store, trace) && lostCount == 0;
      new TimeTravel(out, store, trace).show();
    }
    if (verified && wanted == null) {
      Directories.delete(directory);
      Demo.line(out, "removed", directory + "; --data DIR would keep it");
    } else {
      Demo.line(out, "on disk", Words.bytes(Directories.sizeBytes(directory)) + " in " + directory);
    }
    out.flush();
    return verified;
  }

  private Moment moment(Trace trace) {
    int share = Math.max(2, trace.rows().size() / (kills + 1));
    return random.nextInt(KILLS_WHILE_STARTING) == 0
        ? new Moment.Starting(random.nextInt(STARTING_MILLIS_MAX))
        : new Moment.Committing(random.nextInt(1, share));
  }

  private End replay(Path directory, Moment moment, int number)
      throws IOException, InterruptedException {
    var arguments = new ArrayList<>(List.of("replay", "--data", directory.toString()));
    arguments.addAll(scenario.arguments());
    try (var child = ChildProcess.java(Main.class.getName(), arguments)) {
      if (moment instanceof Moment.Starting(int millis) && !child.endsWithin(millis)) child.kill();
      var found = new HashMap<Long, Integer>();
      var end = End.FAILED;
      int committed = 0;
      for (var line = child.line(); line.isPresent(); line = child.line()) {
        var text = line.get();
        Report.asFound(text).ifPresent(found::putAll);
        var now = Report.asAcknowledged(text).orElse(Map.of());
        now.forEach((item, version) -> acknowledged.merge(item, version, Math::max));
        acknowledgedCount += now.size();
        committed += now.size();
        if (text.equals(Report.READY)) check(found);
        if (text.equals(Report.FINISHED)) end = End.FINISHED;
        if (moment instanceof Moment.Committing(int changes) && committed >= changes) {
          child.kill();
        }
      }
      int code = child.await();
      if (end != End.FINISHED && code == ChildProcess.KILLED) {
        end = End.KILLED;
        Demo.line(out, "kill " + number, describe(moment, committed));
      }
      return end;
    }
  }

  private static String describe(Moment moment, int committed) {
    var when =
        moment instanceof Moment.Starting(int millis)
            ? Words.count(millis) + " ms after its start, "
            : "";
    return when + "after " + Words.count(committed, "acknowledged change");
  }

  /// Compares what the store holds with what was acknowledged before.
  private void check(Map<Long, Integer> found) {
    long lost = 0;
    long more = 0;
    for (var entry : acknowledged.entrySet()) {
      lost += Math.max(0, entry.getValue() - found.getOrDefault(entry.getKey(), 0));
    }
    for (var entry : found.entrySet()) {
      more += Math.max(0, entry.getValue() - acknowledged.getOrDefault(entry.getKey(), 0));
    }
    // The found versions must stay, too.
    found.forEach((item, version) -> acknowledged.merge(item, version, Math::max));
    lostCount += lost;
    underWayCount += more;
    if (checks++ == 0 && found.isEmpty()) return;
    Demo.line(
        out,
        "reopened",
        lost == 0
            ? "everything acknowledged is there, and "
                + Words.count(more)
                + " that were in progress"
            : "LOST: " + Words.count(lost, "acknowledged change"));
  }
}
