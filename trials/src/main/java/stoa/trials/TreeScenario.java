package stoa.trials;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import stoa.Accessor;
import stoa.Limits;
import stoa.Placement;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.UnknownOutcome;
import stoa.View;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;

/// Objects migrate among clients, which join and leave, while the server with the root, or another
/// one of three, is killed, paused or stopped. No client may lose an update or be told of a loss,
/// since no client fails; every later strict read must see flushed updates; and no read may see an
/// operation on several objects in part. Meanwhile the server lends objects to clients, both sides
/// call them, and they come back.
///
/// `./stoa test --campaign --scenario tree --seeds 0-19`. The seed determines the calls and the
/// failures of servers; threads and elections determine the rest.
public final class TreeScenario implements Scenario {
  /// Some money, at the client that moved it last.
  @Shared(name = "tree.Purse", placement = Placement.CLIENT)
  public static class Purse {
    private long balance;

    /// Adds some, and returns the balance.
    public long add(long amount) {
      balance += amount;
      return balance;
    }

    /// Returns the balance.
    @Accessor
    public long balance() {
      return balance;
    }
  }

  /// A counter of the server, which its worker borrows now and then.
  @Shared(name = "tree.Jar")
  public static class Jar {
    private long count;

    /// Adds some, and returns the sum.
    public long add(long more) {
      count += more;
      return count;
    }

    /// Returns the sum.
    @Accessor
    public long count() {
      return count;
    }
  }

  private static final int SERVERS = 3;
  private static final int CLIENTS = 5;
  private static final int PURSES = 4;
  private static final int PAST_MAX = 30;
  private static final Duration CALL_TIME_MAX = Duration.ofSeconds(60);

  private final int faults;
  private final int between;

  /// Creates the scenario for [java.util.ServiceLoader].
  public TreeScenario() {
    this(5, 150);
  }

  /// @param faults the number of failures
  /// @param between the most turns of clients before and after each
  TreeScenario(int faults, int between) {
    this.faults = faults;
    this.between = between;
  }

  @Override
  public String name() {
    return "tree";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(10);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Path directory = Files.createTempDirectory("tree-history");
    int fanOut = chance.percent(50) ? 2 : CLIENTS;
    try (var cluster = Cluster.start(directory, SERVERS, Cluster.Shape.withFanOut(fanOut))) {
      run(cluster, chance, trace);
    } finally {
      Directories.delete(directory);
    }
  }

  private void run(Cluster cluster, Chance chance, Trace trace) throws Exception {
    var progress = new CallerProgress();
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      workers.add(
          new Worker(cluster.url(), "worker " + i, chance.of("worker " + i), progress, workers));
    }
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> ends = new ArrayList<>();
      for (var worker : workers) ends.add(threads.submit(worker::work));
      try {
        happen(cluster, progress, chance, trace);
      } finally {
        progress.end();
      }
      for (var end : ends) end.get();
    } catch (ExecutionException client) {
      throw new AssertionError("a client failed: " + client.getCause(), client.getCause());
    }
    try (var stoa = open(cluster.url(), TreeMembership.leaf())) {
      holds(sum(stoa) == 0, "money came from nowhere: " + sum(stoa));
      for (var worker : workers) worker.judge(stoa);
    }
    for (var worker : workers) {
      for (long i = 0; i < worker.jar.lentCalls; i++) trace.reached("a call on what was lent");
      for (long i = 0; i < worker.jar.calls; i++) trace.reached("a call of an ordinary proxy");
      for (long i = 0; i < worker.jar.refused.get(); i++)
        trace.reached("a transaction was refused");
      for (long i = 0; i < worker.jar.taken.get(); i++)
        trace.reached("a transaction saw what was back");
      for (long i = 0; i < worker.flushes; i++) trace.reached("a flush");
      for (long i = 0; i < worker.lives; i++) trace.reached("a client left");
    }
  }

  private static Stoa open(String url, TreeMembership membership) {
    return Stoa.open(
        StoaConfig.of(url)
            .withMembership(membership)
            .withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX)));
  }

  private static void holds(boolean fact, String otherwise) {
    if (!fact) throw new AssertionError(otherwise);
  }

  private static List<Purse> purses(Stoa stoa) {
    List<Purse> all = new ArrayList<>();
    for (int i = 0; i < PURSES; i++) all.add(stoa.get(Purse.class, "purse " + i));
    return all;
  }

  private static long sum(Stoa stoa) {
    var all = purses(stoa);
    return stoa.<Long, RuntimeException>together(
        all, () -> all.stream().mapToLong(Purse::balance).sum());
  }

  private void happen(Cluster cluster, CallerProgress progress, Chance chance, Trace trace)
      throws Exception {
    for (int i = 0; i < faults; i++) {
      progress.await(chance.between(between / 2, between));
      cluster.requireAlive();
      int leader = cluster.leader();
      boolean leads = chance.percent(75);
      int which = leads ? leader : (leader + chance.between(1, SERVERS - 1)) % SERVERS;
      String victim = leads ? "the leader" : "a follower";
      var _ = progress.longestSilence();
      switch (chance.below(3)) {
        case 0 -> {
          cluster.kill(which);
          victim += " killed";
        }
        case 1 -> {
          cluster.pause(which);
          victim += " paused";
        }
        default -> {
          cluster.stop(which);
          victim += " stopped";
        }
      }
      progress.await(chance.between(between / 2, between)); // calls go on without it
      trace.measured("ms without an answer: " + victim, progress.longestSilence().toMillis());
      trace.reached(victim);
      if (victim.endsWith("paused")) cluster.resume(which);
      else cluster.startAgain(which);
    }
    progress.await(between);
  }

  /// One client after the other, under one name. One thread uses it.
  private static final class Worker {
    private final String url;
    private final String name;
    private final Chance chance;
    private final CallerProgress progress;
    private final List<Worker> all;
    // The worker's own object: its changes, and those that are certainly durable.
    private final Deque<String> past = new ArrayDeque<>();
    private long done;
    private volatile long durable;
    private final JarWork jar;
    private long flushes;
    private long lives;

    /// @param all receives all the workers, in the end
    private Worker(
        String url, String name, Chance chance, CallerProgress progress, List<Worker> all) {
      this.url = url;
      this.name = name;
      this.chance = chance;
      this.progress = progress;
      this.all = all;
      jar = new JarWork(name, chance.of("jar"));
    }

    private Void work() {
      while (!progress.areOver()) {
        var membership = chance.percent(60) ? TreeMembership.inner() : TreeMembership.leaf();
        try (var stoa = open(url, membership)) {
          note("joins as " + membership);
          jar.begin(stoa);
          ofLife(stoa, lives).add(1);
          int most = chance.between(10, 80);
          for (int i = 0; i < most && !progress.areOver(); i++) turn(stoa);
        } catch (UnknownOutcome told) {
          throw new AssertionError(name + " was told of a loss: " + past, told);
        }
        durable = done;
        jar.flushed(jar.done);
        note("left with " + done);
        lives++;
      }
      return null;
    }

    /// Returns an object that only one client calls. When this client has left, the object may be
    /// with another one, which does not know the object's name.
    private Purse ofLife(Stoa stoa, long life) {
      return stoa.get(Purse.class, name + " in life " + life);
    }

    private void note(String what) {
      if (past.size() == PAST_MAX) past.removeFirst();
      past.add(System.nanoTime() / 1_000_000 % 1_000_000 + " " + what);
    }

    private void turn(Stoa stoa) {
      int dice = chance.below(100);
      if (dice < 40) move(stoa);
      else if (dice < 50) holds(sum(stoa) == 0, "a part of an operation was seen");
      else if (dice < 65) add(stoa);
      else if (dice < 80) jar.add();
      else if (dice < 90) flush(stoa);
      else look(stoa);
      progress.answered();
      progress.taken();
    }

    private void move(Stoa stoa) {
      var all = purses(stoa);
      var from = chance.of(all);
      var to = chance.of(all);
      stoa.<Long, RuntimeException>together(
          List.of(from, to),
          () -> {
            to.add(1);
            return from.add(-1);
          });
    }

    private void add(Stoa stoa) {
      long now = stoa.get(Purse.class, name).add(1);
      note("found " + now);
      holds(now == done + 1, name + " is " + now + " after " + done + ": " + past);
      done = now;
    }

    private void flush(Stoa stoa) {
      long before = done;
      long inJar = jar.done;
      stoa.flush();
      durable = before;
      jar.flushed(inJar);
      note("flushed " + before);
      flushes++;
    }

    /// Checks that another worker's durable updates are visible, whatever the root.
    private void look(Stoa stoa) {
      Worker other = chance.of(all);
      if (chance.percent(50)) {
        other.jar.look(stoa);
        return;
      }
      long least = other.durable;
      long now = stoa.get(Purse.class, other.name).balance();
      holds(now >= least, other.name + " is " + now + ", and " + least + " was durable before");
    }

    private void judge(Stoa stoa) {
      long now = stoa.get(Purse.class, name).balance();
      holds(now == durable, name + " is " + now + " after " + durable);
      for (long life = 0; life < lives; life++) {
        long once = ofLife(stoa, life).balance();
        holds(once == 1, name + " in life " + life + " is " + once + " after 1");
      }
      jar.look(stoa);
    }
  }

  /// A worker's changes of an object of the server that no other worker changes, at either side.
  /// Used by the worker's thread, except for [#look].
  private static final class JarWork {
    private final String name;
    private final Chance chance;
    // The ordinary proxy, and the view if there is one.
    private List<Jar> ways = List.of();
    // Its last change, below 0 when that is unknown, and its last certainly durable one.
    private volatile long done;
    private volatile long durable;
    private long lentCalls;
    private long calls;
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong taken = new AtomicLong();

    private JarWork(String name, Chance chance) {
      this.name = "jar of " + name;
      this.chance = chance;
    }

    private static Jar jar(Stoa stoa, String name) {
      return stoa.get(Jar.class, name);
    }

    /// Begins a life of the client, which has a view, or none.
    private void begin(Stoa stoa) {
      var ordinary = jar(stoa, name);
      ways = List.of(ordinary);
      call(ordinary, 0);
      if (done < 0 || chance.percent(40)) return;
      var view = stoa.view(Jar.class, stoa.ref(ordinary), new View.Client(Reads.STRICT));
      ways = List.of(ordinary, view);
    }

    private void add() {
      if (ways.size() > 1 && chance.percent(70)) {
        check(ways.getLast().add(1), 1);
        lentCalls++;
      } else {
        call(ways.getFirst(), 1);
      }
    }

    /// Calls the object. An answer of an ordinary proxy is durable.
    private void call(Jar at, long more) {
      long now;
      try {
        now = at.add(more);
      } catch (UnknownOutcome lost) {
        done = -1;
        return;
      }
      check(now, more);
      durable = now;
      calls++;
    }

    private void check(long now, long more) {
      long least = durable;
      holds(now >= least + more, name + " is " + now + ", and " + least + " was durable");
      long last = done;
      holds(last < 0 || now <= last + more, name + " is " + now + " after " + last);
      done = now;
    }

    private void flushed(long before) {
      if (before >= 0) durable = Math.max(durable, before);
    }

    /// Checks that durable updates are visible, wherever the object is.
    private void look(Stoa stoa) {
      long least = durable;
      var jar = jar(stoa, name);
      long now = jar.count();
      holds(now >= least, name + " is " + now + ", and " + least + " was durable before");
      try {
        long then = stoa.<Long, RuntimeException>transact(jar::count);
        holds(then >= least, name + " is " + then + " in a transaction, and was " + least);
        var _ = taken.incrementAndGet();
      } catch (UnsupportedOperationException lent) {
        var _ = refused.incrementAndGet();
      }
    }
  }
}
