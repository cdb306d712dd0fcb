package stoa.stacksync.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import stoa.Stoa;
import stoa.stacksync.Account;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.Device;
import stoa.stacksync.Facade;
import stoa.stacksync.ItemChange;
import stoa.stacksync.WorkspaceInfo;

/// Commits a trace to a store as its users' devices would: several clients at once, each through a
/// facade of its own.
///
/// It continues from whatever the store holds. Nothing beside the store says how far an earlier
/// replay came; whatever stopped that one, and wherever, this one commits the rest.
///
/// Owned by one thread, which calls [#run()] once.
public final class Replay {
  /// How much each user's workspaces may hold.
  public static final long QUOTA_BYTES = 1L << 30;

  private static final int ATTEMPTS_MAX = 3;

  /// How many threads add users, devices and workspaces: many, so that their calls become durable
  /// together.
  private static final int POPULATORS = 32;

  /*
   * (1) A batch is sent only after those before it that have an item in common were answered, so
   *     the store has exactly the version before each of its changes.
   * (2) A change is left out only if the store has its version. Versions of an item are committed
   *     in order, so the newest stored one tells about all before it.
   * (3) A call that an interrupted replay had under way goes on when its facade is used again. All
   *     are finished before (2) is decided: until then a moved item could be in neither workspace.
   */
  private final Stoa store;
  private final Trace trace;
  private final int clients;
  private final Observer observer;
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /// @param clients how many threads commit at once
  public Replay(Stoa store, Trace trace, int clients, Observer observer) {
    if (clients < 1) {
      throw new IllegalArgumentException(clients + " clients; it takes at least one");
    }
    this.store = store;
    this.trace = trace;
    this.clients = clients;
    this.observer = observer;
  }

  /// Commits what the store does not have yet.
  ///
  /// @throws IllegalStateException when the service refuses what it should take
  public ReplayReport run() throws InterruptedException {
    finishInterrupted();
    populate(Population.of(trace).users());
    Map<Long, Integer> stored = new HashMap<>();
    for (var found : StoredItem.all(store)) {
      stored.merge(found.item().id(), found.item().latest().version(), Math::max);
    }
    var schedule = new Schedule(trace, stored);
    observer.found(stored, schedule.rowCount());
    var sessions = new ArrayList<Session>();
    for (int i = 0; i < clients; i++) sessions.add(new Session(facade("client-" + i), schedule));
    long start = System.nanoTime();
    runAll(sessions);
    var elapsed = Duration.ofNanos(System.nanoTime() - start);
    return new ReplayReport(
        trace.rows().size() - schedule.rowCount(),
        schedule.rowCount(),
        sessions.stream().mapToInt(session -> session.conflicts).sum(),
        elapsed,
        new Latencies(sessions.stream().flatMap(session -> session.nanos.stream()).toList()));
  }

  private Facade facade(String name) {
    return store.get(Facade.class, name);
  }

  private void finishInterrupted() {
    try (var facades = store.list(Facade.class)) {
      for (var facade : facades) facade.account(TraceIds.user(0));
    }
  }

  /// Adds the users, devices and workspaces of the trace that are not there yet.
  private void populate(List<Population.Participant> users) throws InterruptedException {
    each(users, Replay::addUser);
    each(users, Replay::addWorkspaces);
    each(users, Replay::addMemberships);
  }

  private static void addUser(Facade facade, Population.Participant user) {
    var id = TraceIds.user(user.number());
    var known = facade.account(id).map(Account::devices).orElse(List.of());
    if (known.isEmpty()) {
      facade.addUser(
          id, "user " + user.number(), "user" + user.number() + "@example.org", QUOTA_BYTES);
    }
    var knownIds = known.stream().map(Device::id).collect(Collectors.toSet());
    for (int number : user.devices()) {
      var device = new Device(TraceIds.device(number), "device " + number, "Linux");
      if (!knownIds.contains(device.id())) facade.addDevice(id, device);
    }
  }

  private static void addWorkspaces(Facade facade, Population.Participant user) {
    if (user.owned().isEmpty()) return;
    var missing = missing(facade, user);
    for (var name : user.owned()) {
      if (missing.test(name)) {
        facade.addWorkspace(TraceIds.user(user.number()), TraceIds.workspace(name), name);
      }
    }
  }

  private static void addMemberships(Facade facade, Population.Participant user) {
    if (user.shared().isEmpty()) return;
    var missing = missing(facade, user);
    user.shared()
        .forEach((name, owner) -> {
          if (missing.test(name)) {
            facade.shareWorkspace(
                TraceIds.user(owner), TraceIds.workspace(name), TraceIds.user(user.number()));
          }
        });
  }

  private static Predicate<String> missing(Facade facade, Population.Participant user) {
    var known =
        facade.listWorkspaces(TraceIds.user(user.number())).stream()
            .map(WorkspaceInfo::id)
            .collect(Collectors.<UUID>toSet());
    return name -> !known.contains(TraceIds.workspace(name));
  }

  private interface Preparation {
    void of(Facade facade, Population.Participant user);
  }

  private void each(List<Population.Participant> users, Preparation preparation)
      throws InterruptedException {
    var waiting = new ConcurrentLinkedQueue<>(users);
    var works = new ArrayList<Work>();
    for (int i = 0; i < Math.min(POPULATORS, users.size()); i++) {
      var facade = facade("populator-" + i);
      works.add(() -> {
        for (var user = waiting.poll(); user != null; user = waiting.poll()) {
          preparation.of(facade, user);
        }
      });
    }
    runAll(works);
  }

  private interface Work {
    void run() throws InterruptedException;
  }

  /// Runs each piece of work on a thread of its own, and waits for all.
  private void runAll(List<? extends Work> works) throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (var work : works) {
      threads.add(
          Thread.ofPlatform()
              .name("client-" + threads.size())
              .start(() -> {
                try {
                  work.run();
                } catch (Throwable e) {
                  failures.add(e);
                }
              }));
    }
    for (var thread : threads) thread.join();
    var failure = failures.peek();
    if (failure != null) {
      throw new IllegalStateException("the replay failed: " + failure.getMessage(), failure);
    }
  }

  /// One client. Owned by its thread until that ends.
  private final class Session implements Work {
    private final Facade facade;
    private final Schedule schedule;
    private final List<Long> nanos = new ArrayList<>();
    private int conflicts;

    Session(Facade facade, Schedule schedule) {
      this.facade = facade;
      this.schedule = schedule;
    }

    @Override
    public void run() throws InterruptedException {
      boolean finished = false;
      try {
        for (var next = schedule.take(); next.isPresent(); next = schedule.take()) {
          commit(next.get());
          schedule.done(next.get());
        }
        finished = true;
      } finally {
        if (!finished) schedule.stop();
      }
    }

    private void commit(Batch batch) {
      var waiting = new HashMap<Long, TraceRow>();
      var changes = new ArrayList<ItemChange>();
      for (var row : batch.rows) {
        waiting.put(row.item(), row);
        changes.add(change(row, row.versionAskedFor()));
      }
      for (int attempt = 1; !changes.isEmpty(); attempt++) {
        if (attempt > ATTEMPTS_MAX) {
          throw new IllegalStateException(
              changes + " was not committed in " + ATTEMPTS_MAX + " attempts");
        }
        var answers = send(batch, changes);
        changes.clear();
        var acknowledged = new ArrayList<TraceRow>();
        for (var answer : answers) {
          var row = waiting.get(answer.item());
          if (row == null) throw new IllegalStateException("not asked for: " + answer);
          switch (answer) {
            case CommitInfo.Committed committed when committed.version() == row.version() ->
                acknowledged.add(row);
            case CommitInfo.Repeated repeated when repeated.version() == row.version() ->
                acknowledged.add(row);
            case CommitInfo.WrongVersion wrong when wrong.version() < row.version() -> {
              conflicts++;
              changes.add(change(row, wrong.current().version() + 1));
            }
            case CommitInfo refused ->
                throw new IllegalStateException(refused + " is the answer to " + row);
          }
        }
        if (!acknowledged.isEmpty()) observer.acknowledged(acknowledged);
      }
    }

    private List<CommitInfo> send(Batch batch, List<ItemChange> changes) {
      var author = batch.rows.getFirst();
      var user = TraceIds.user(author.user());
      var device = TraceIds.device(author.device());
      var to = TraceIds.workspace(batch.to);
      long start = System.nanoTime();
      var answers =
          batch.moves()
              ? facade.moveItems(user, device, TraceIds.workspace(batch.from), to, changes)
              : facade.doCommit(user, device, to, changes);
      nanos.add(System.nanoTime() - start);
      return answers;
    }

    private static ItemChange change(TraceRow row, int version) {
      return new ItemChange(row.item(), version, TraceIds.metadata(row));
    }
  }
}
