package stoa.stacksync.replay;

import java.time.Duration;
import java.util.ArrayList;
import stoa.Stoa;
import stoa.stacksync.Design;
import stoa.stacksync.Services;

/// Commits a trace to a store as its users' devices would: several clients at once, each through a
/// facade of its own.
///
/// It continues from whatever the store holds. Nothing beside the store says how far an earlier
/// replay came; whatever stopped that one, and wherever, this one commits the rest.
///
/// Owned by one thread, which calls [#run()] once.
public final class Replay {
  /*
   * (1) A batch is sent only after those before it that have an item in common were answered, so
   *     the store has exactly the version before each of its changes.
   * (2) A change is left out only if the store has its version. Versions of an item are committed
   *     in order, so the newest stored one tells about all before it.
   * (3) A call that an interrupted replay had in progress continues when its facade is used again.
   *     All are finished before (2) is decided: until then a moved item could be in neither
   *     workspace.
   */
  private final Stoa store;
  private final Trace trace;
  private final Design design;
  private final int clients;
  private final Observer observer;

  /// @param design of the service, when the store has none yet
  /// @param clients how many threads commit at once
  public Replay(Stoa store, Trace trace, Design design, int clients, Observer observer) {
    if (clients < 1) {
      throw new IllegalArgumentException(clients + " clients; it takes at least one");
    }
    this.store = store;
    this.trace = trace;
    this.design = design;
    this.clients = clients;
    this.observer = observer;
  }

  /// Commits what the store does not have yet.
  ///
  /// @throws IllegalArgumentException when the store holds the service in another design
  /// @throws IllegalStateException when the service refuses what it should take
  public ReplayReport run() throws InterruptedException {
    var stored = new Preparation(store, trace, design).run();
    var schedule = new Schedule(trace, stored);
    observer.found(stored, schedule.rowCount());
    var committers = new ArrayList<Committer>();
    var works = new ArrayList<Crew.Work>();
    for (int i = 0; i < clients; i++) {
      var service = Services.open(store, "client-" + i, design);
      var committer = new Committer(service, observer, Outage.NONE);
      committers.add(committer);
      works.add(() -> work(committer, schedule));
    }
    long start = System.nanoTime();
    Crew.run("client", works);
    var elapsed = Duration.ofNanos(System.nanoTime() - start);
    return new ReplayReport(
        trace.rows().size() - schedule.rowCount(),
        schedule.rowCount(),
        committers.stream().mapToInt(Committer::conflicts).sum(),
        elapsed,
        new Latencies(committers.stream().flatMap(each -> each.nanos().stream()).toList()));
  }

  private static void work(Committer committer, Schedule schedule) throws InterruptedException {
    boolean finished = false;
    try {
      for (var next = schedule.take(); next.isPresent(); next = schedule.take()) {
        committer.commit(next.get());
        schedule.done(next.get());
      }
      finished = true;
    } finally {
      if (!finished) schedule.stop();
    }
  }
}
