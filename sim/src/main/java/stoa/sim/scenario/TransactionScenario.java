package stoa.sim.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Deadlock;
import stoa.History;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.OpacityProbe;
import stoa.sim.check.Serializability;
import stoa.sim.check.TransactionHistory;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.Ring;
import stoa.sim.world.SimulatedAccount;
import stoa.sim.world.SimulatedNode;
import stoa.sim.world.SimulatedRegister;
import stoa.sim.world.SimulatedSeries;
import stoa.sim.world.SimulatedShelf;
import stoa.sim.world.SimulatedStore;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.SimulatedDisk;

/// Clients run transactions on a whole store while its disk fails and the store restarts: they
/// append to lists, one at a time and several at once, use lists that are parts of one object, move
/// objects within a ring of references, and send money, with their steps interleaved; some roll
/// back, some only read, some read the past, and single calls run beside them.
///
/// All reads must be strictly serializable, including those of doomed transactions; no transaction
/// happens twice or in part; the ring stays one; the sum of all money stays the same; streams are
/// dense, and their order is that of the log. No transaction that only adds to the lists of one
/// object is aborted by others that add to them, unless the object has left memory since one of
/// these committed. In half of the runs it never leaves memory.
public final class TransactionScenario implements Scenario {
  private static final int SERIES = 3;
  private static final int NODES = 5;
  private static final int ACCOUNTS = 3;
  private static final int CLIENTS = 4;
  private static final int TURNS = 120;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  // The number of attempts after which a transaction that a body has begun runs undisturbed.
  private static final int DISTURBED_MAX = 3;

  // The number of attempts of a starving transaction that single calls abort, and of those that it
  // may take beyond: the store then holds these calls back.
  private static final int STARVED = 8;
  private static final int BEYOND = 4;
  private static final int REMEMBERED_MAX = 10;

  // The pairs of transactions that add to the lists of one object at once.
  private static final int PAIRS = 4;

  // The kind of a single call that appends to one list.
  private static final int APPEND = 3;

  // The most steps that a call takes.
  private static final int STEPS = 1_000;
  private static final long SUM = 1_001;
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          .withLimits(
              Limits.standard()
                  // So little that objects leave memory all the time.
                  .withResidentBytesMax(4_000));

  private final Function<Chance, PoweredDisk> disks;

  /// @param disks creates the disk of a run
  public TransactionScenario(Function<Chance, PoweredDisk> disks) {
    this.disks = disks;
  }

  @Override
  public String name() {
    return "transactions";
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace, disks.apply(chance.of("disk"))).run();
  }

  /// The exception by which a body rolls back.
  private static final class RolledBack extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /// One step of a transaction; the last one says so.
  @FunctionalInterface
  private interface Step {
    void run(Attempt attempt);
  }

  /// An attempt at a transaction: the participating proxies, its reads and its writes.
  private static final class Attempt {
    private final String id;
    private final TransactionHistory.Open open;
    private final @Nullable Transaction explicit;
    private final Map<String, String> references = new TreeMap<>();
    private final List<String> appended = new ArrayList<>();

    // Its kinds of calls on the lists of one object, and the calls of others there when it began.
    private boolean adds;
    private boolean asks;
    private boolean appends;
    private long changesBefore;
    private long additionsBefore;

    // Whether others had added to these lists between its beginning and its first call there.
    private boolean addsLate;

    Attempt(String id, TransactionHistory.Open open, @Nullable Transaction explicit) {
      this.id = id;
      this.open = open;
      this.explicit = explicit;
    }

    <T> T on(T shared) {
      return explicit == null ? shared : explicit.on(shared);
    }
  }

  /// A client in the middle of a transaction that it commits itself.
  private record Client(Attempt attempt, List<Step> rest, boolean reading) {}

  /// A single call in progress.
  private record PendingCall(
      CompletableFuture<List<String>> future,
      String key,
      String element,
      List<TransactionHistory.Open> opens) {
    boolean appendsToShelf() {
      return !element.isEmpty() && ShelfSteps.LISTS.contains(key);
    }
  }

  /// A transaction with an unknown outcome.
  private record Doubtful(Attempt attempt, Transaction.@Nullable Id id) {}

  private record Remembered(LogAddress at, Map<String, List<String>> lists) {}

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final PoweredDisk disk;
    private final SimulatedStore store;
    private final TransactionHistory history = new TransactionHistory();
    private final OpacityProbe probe = new OpacityProbe(SUM);
    private final Ring ring;
    private final List<String> names = new ArrayList<>();
    private final List<SimulatedSeries> series = new ArrayList<>();
    private final List<SimulatedShelf> shelf = new ArrayList<>();

    // The calls on the shelf that commute with no other, which have begun or ended; and the
    // committed transactions that add to it.
    private long changesOfShelf;
    private long additionsToShelf;

    // Whether a transaction keeps the shelf in memory, and that of the present store.
    private final boolean holdsShelf;
    private @Nullable Transaction reader;
    private final Map<String, SimulatedNode> nodes = new TreeMap<>();
    private final List<SimulatedAccount> accounts = new ArrayList<>();
    private final List<SimulatedRegister> pair = new ArrayList<>();
    private final List<@Nullable Client> clients = new ArrayList<>();
    private final List<PendingCall> asked = new ArrayList<>();
    private final List<Doubtful> doubtful = new ArrayList<>();
    private final List<Remembered> remembered = new ArrayList<>();
    // The known log address of each element that a transaction appended.
    private final Map<String, LogAddress> committedAt = new HashMap<>();
    // The elements of one transaction each.
    private final List<List<String>> together = new ArrayList<>();
    private boolean created;
    private int ids;
    private int depth;

    Run(Chance chance, Trace trace, PoweredDisk disk) {
      this.chance = chance.of("work");
      this.trace = trace;
      this.disk = disk;
      store = new SimulatedStore(chance, CONFIG, disk);
      holdsShelf = chance.of("shelf").percent(50);
      for (int i = 0; i < NODES; i++) names.add("node " + i);
      ring = Ring.of(names);
      for (int i = 0; i < CLIENTS; i++) clients.add(null);
    }

    void run() {
      recover();
      for (int turn = 0; turn < TURNS; turn++) {
        store.passTime(Duration.ofMillis(chance.below(10)));
        try {
          turn();
          collect();
        } catch (Unavailable failed) {
          if (isFull(failed)) {
            // The store continues; there is room again sooner or later.
            trace.add("full");
            trace.reached("the disk is full");
          } else {
            trace.add("failed");
            trace.reached("the store fails");
            restart();
          }
        }
      }
      store.calm();
      restart();
      for (int i = 0; i < 5; i++) work();
      for (int i = 0; i < PAIRS; i++) addTogether();
      restart();
      readAll(TxOptions.reading());
      verifyStreams();
      probe.require();
      Serializability.require(history.transactions());
      trace.add("end " + history.transactions() + " " + store.diskDigest());
    }

    private static boolean isFull(Throwable failed) {
      for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
        if (cause instanceof DiskFull) return true;
      }
      return false;
    }

    private void turn() {
      int dice = chance.below(100);
      if (dice < 86) work();
      else if (dice < 92) room();
      else if (dice < 95) readAgain();
      else if (dice < 97) readAll(TxOptions.reading());
      else restart();
    }

    /// Does work that may also happen in the middle of another client's transaction.
    private void work() {
      int dice = chance.below(100);
      if (dice < 5) total();
      else if (dice < 60) advance(chance.below(CLIENTS));
      else if (dice < 74) transact();
      else if (dice < 75 && depth == 0) starve();
      else if (dice < 90) ask();
      else {
        for (int i = chance.between(1, 6); i > 0; i--) store.step();
      }
    }

    // ---- steps of transactions

    private String key(int index) {
      return "series " + index;
    }

    private List<Step> plan(boolean reading) {
      List<Step> plan = new ArrayList<>();
      switch (chance.below(10)) {
        case 0, 1 -> ringPlan(plan, reading);
        case 2, 3 -> bankPlan(plan, reading);
        case 4 -> pairPlan(plan, reading);
        default -> {
          for (int i = chance.between(1, 5); i > 0; i--) plan.add(listStep(reading));
        }
      }
      return plan;
    }

    private Step listStep(boolean reading) {
      if (chance.percent(40)) {
        int step = chance.below(reading ? 2 : ShelfSteps.STEPS);
        String list = chance.of(ShelfSteps.LISTS);
        return shelfStep(step, list);
      }
      int index = chance.below(SERIES);
      int other = (index + chance.between(1, SERIES - 1)) % SERIES;
      int dice = reading ? 0 : chance.below(100);
      if (dice < 45) return attempt -> read(attempt, index);
      if (dice < 80) return attempt -> append(attempt, index);
      if (dice < 95) return attempt -> appendBehind(attempt, index, other);
      return attempt -> {
        attempt.on(series.get(index)).appendAndThrow(element(attempt));
        throw new AssertionError("a method that throws does not return");
      };
    }

    private Step shelfStep(int step, String list) {
      return attempt -> {
        trace.reached("a part of an object is used");
        var whole = attempt.on(shelf.getFirst());
        if (!attempt.adds && !attempt.asks) {
          attempt.addsLate = attempt.additionsBefore < additionsToShelf;
        }
        if (ShelfSteps.isAddition(step)) attempt.adds = true;
        else attempt.asks = true;
        if (ShelfSteps.isAppend(step)) {
          attempt.appends = true;
          changesOfShelf++;
        }
        ShelfSteps.run(whole, step, list, element(attempt), attempt.open);
      };
    }

    private String element(Attempt attempt) {
      return attempt.id + "." + ids++;
    }

    private void read(Attempt attempt, int index) {
      attempt.open.read(key(index), attempt.on(series.get(index)).elements());
    }

    private void append(Attempt attempt, int index) {
      String element = element(attempt);
      List<String> all = attempt.on(series.get(index)).append(element);
      appended(attempt, index, element);
      attempt.open.read(key(index), all);
    }

    private void appendBehind(Attempt attempt, int index, int other) {
      String element = element(attempt);
      List<String> all =
          attempt.on(series.get(index)).appendBehind(attempt.on(series.get(other)), element);
      appended(attempt, index, element);
      appended(attempt, other, element);
      attempt.open.read(key(index), all);
    }

    private void appended(Attempt attempt, int index, String element) {
      attempt.open.append(key(index), element);
      attempt.appended.add(key(index) + " " + element);
    }

    private void ringPlan(List<Step> plan, boolean reading) {
      for (String name : names) plan.add(attempt -> follow(attempt, name));
      String moved = chance.of(names);
      String target = chance.of(names);
      plan.add(attempt -> {
        trace.reached("a ring is read");
        var now = ring.require(attempt.references);
        if (reading) return;
        now.move(moved, target).forEach((from, to) -> attempt.on(node(from)).link(node(to)));
      });
      if (reading || !chance.percent(30)) return;
      // It sees its own moves.
      for (String name : names) plan.add(attempt -> follow(attempt, name));
      plan.add(attempt -> ring.require(attempt.references));
    }

    private void follow(Attempt attempt, String name) {
      SimulatedNode next = Objects.requireNonNull(attempt.on(node(name)).next(), name);
      attempt.references.put(name, String.valueOf(store.stoa().ref(next).key()));
    }

    private SimulatedNode node(String name) {
      return Objects.requireNonNull(nodes.get(name), name);
    }

    private void bankPlan(List<Step> plan, boolean reading) {
      int from = chance.below(ACCOUNTS);
      int to = (from + chance.between(1, ACCOUNTS - 1)) % ACCOUNTS;
      long amount = chance.between(1, 50);
      // Long ones fill the disk.
      String text = "x".repeat(chance.of(List.of(0, 50, 3_000)));
      if (chance.percent(50)) plan.add(this::audit);
      if (!reading) {
        plan.add(attempt -> attempt.on(accounts.get(from)).take("out " + text, -amount));
        plan.add(attempt -> attempt.on(accounts.get(to)).take("in " + text, amount));
      }
      if (plan.isEmpty() || chance.percent(50)) plan.add(this::audit);
    }

    private void audit(Attempt attempt) {
      long balances = 0;
      for (var account : accounts) balances += attempt.on(account).balance();
      Demand.that(
          balances == ACCOUNTS * SimulatedAccount.OPENING,
          "no money comes or goes; %s saw %d".formatted(attempt.id, balances));
    }

    /// Asks all accounts with one accessor, beside any other work.
    private void total() {
      int first = chance.below(ACCOUNTS);
      var others = new ArrayList<>(accounts);
      var asking = others.remove(first);
      long balances;
      try {
        balances = store.await(() -> asking.total(others));
      } catch (StoaException failed) {
        trace.add("total fails with " + failed.getClass().getSimpleName());
        expected(failed);
        return;
      }
      trace.reached("an accessor asks several objects");
      Demand.that(
          balances == ACCOUNTS * SimulatedAccount.OPENING,
          "an accessor sees no half of a transaction; it saw %d".formatted(balances));
    }

    private void pairPlan(List<Step> plan, boolean reading) {
      long[] seen = new long[2];
      for (int i = 0; i < 2; i++) {
        int at = i;
        plan.add(attempt -> seen[at] = attempt.on(pair.get(at)).value());
      }
      plan.add(attempt -> probe.saw(attempt.id, seen[0], seen[1]));
      if (reading) return;
      long change = chance.between(-20, 20);
      plan.add(attempt -> attempt.on(pair.get(0)).write(seen[0] + change));
      plan.add(attempt -> attempt.on(pair.get(1)).write(seen[1] - change));
    }

    // ---- transactions that clients commit themselves

    private void advance(int index) {
      Client client = clients.get(index);
      if (client == null) {
        begin(index);
        return;
      }
      if (!client.rest().isEmpty()) {
        step(index, client);
        return;
      }
      clients.set(index, null);
      if (chance.percent(10)) giveUp(client);
      else commit(client);
    }

    /// Two transactions add to the lists of one object at once. In half of the cases, each reads
    /// the list to which the other adds, so that one of them must give way; otherwise both commit.
    private void addTogether() {
      int first = chance.below(ShelfSteps.LISTS.size());
      int behind = chance.between(1, ShelfSteps.LISTS.size() - 1);
      String list = ShelfSteps.LISTS.get(first);
      String other = ShelfSteps.LISTS.get((first + behind) % ShelfSteps.LISTS.size());
      List<List<Step>> plans =
          chance.percent(50)
              ? List.of(
                  List.of(shelfStep(ShelfSteps.READ, list), shelfStep(ShelfSteps.ADD, other)),
                  List.of(shelfStep(ShelfSteps.READ, other), shelfStep(ShelfSteps.ADD, list)))
              : List.of(List.of(addition(list)), List.of(addition(list)));
      var both = new ArrayList<Client>();
      for (List<Step> plan : plans) both.add(new Client(begun("t" + ids++, false), plan, false));
      for (Client client : both) {
        store.await(() -> {
          for (Step step : client.rest()) step.run(client.attempt());
          return true;
        });
      }
      both.forEach(this::commit);
    }

    private Step addition(String list) {
      return shelfStep(chance.between(ShelfSteps.ADD, ShelfSteps.ADD_TO_ALL), list);
    }

    private void begin(int index) {
      boolean reading = chance.percent(25);
      String id = "t" + ids++;
      Attempt attempt = begun(id, reading);
      clients.set(index, new Client(attempt, plan(reading), reading));
    }

    private Attempt begun(String id, boolean reading) {
      // The transaction may begin at any moment from here on.
      var open = history.begin(id);
      Transaction explicit = store.stoa().begin(reading ? TxOptions.reading() : TxOptions.STANDARD);
      trace.add(id + " begins at " + explicit.at());
      var attempt = new Attempt(id, open, explicit);
      attempt.changesBefore = changesOfShelf;
      attempt.additionsBefore = additionsToShelf;
      return attempt;
    }

    private void step(int index, Client client) {
      Attempt attempt = client.attempt();
      Step step = client.rest().removeFirst();
      try {
        store.await(() -> {
          step.run(attempt);
          return true;
        });
      } catch (IllegalStateException thrown) {
        rethrown(thrown);
        trace.add(attempt.id + " throws");
        trace.reached("a method throws in a transaction");
        clients.set(index, null);
        giveUp(client);
      } catch (StoaException failed) {
        trace.add(attempt.id + " fails with " + failed.getClass().getSimpleName());
        trace.reached("a transaction's call ends with " + failed.getClass().getSimpleName());
        clients.set(index, null);
        giveUp(client);
        expected(failed);
      }
    }

    private static void rethrown(IllegalStateException thrown) {
      String text = String.valueOf(thrown.getMessage());
      if (!text.startsWith("thrown behind ")) throw thrown;
    }

    /// Checks the exception of a call in a transaction; when the store is lost, the run opens it
    /// again.
    private void expected(StoaException failed) {
      switch (failed) {
        case Unavailable unavailable -> throw unavailable;
        // The store numbers a method at its first call, in the log.
        case UnknownOutcome unknown -> throw new Unavailable("the store is lost", unknown);
        case LimitExceeded _, Deadlock _ -> {}
        default -> throw new AssertionError("unexpected in a transaction: " + failed, failed);
      }
    }

    private void giveUp(Client client) {
      Attempt attempt = client.attempt();
      if (attempt.explicit != null) attempt.explicit.close();
      attempt.open.aborted();
      trace.add(attempt.id + " is given up");
    }

    private void commit(Client client) {
      Attempt attempt = client.attempt();
      Transaction explicit = Objects.requireNonNull(attempt.explicit);
      Transaction.Outcome outcome;
      try {
        outcome = store.await(explicit::commit);
      } catch (LimitExceeded | Unavailable refused) {
        attempt.open.aborted();
        trace.add(attempt.id + " is refused with " + refused.getClass().getSimpleName());
        trace.reached("a commit is refused with " + refused.getClass().getSimpleName());
        if (refused instanceof Unavailable) throw refused;
        return;
      }
      trace.add(attempt.id + " " + outcome);
      trace.reached("a commit ends with " + outcome.getClass().getSimpleName());
      switch (outcome) {
        case Transaction.Outcome.Committed(LogAddress address) -> committed(attempt, address);
        case Transaction.Outcome.Aborted(Aborted cause) -> {
          attempt.open.aborted();
          Demand.that(!client.reading(), "who only reads never conflicts: " + cause);
          Demand.that(
              cause.changedAt().compareTo(cause.readAt()) > 0, "the winner came later: " + cause);
          // What the store knows of the parts of an object leaves memory with the object.
          boolean known = holdsShelf || !attempt.addsLate;
          boolean commutes =
              known
                  && !attempt.asks
                  && attempt.changesBefore == changesOfShelf
                  && asked.stream().noneMatch(PendingCall::appendsToShelf);
          Demand.that(
              !commutes || !cause.object().equals(store.stoa().ref(shelf.getFirst())),
              "additions conflict with nothing but other calls: " + cause);
        }
        case Transaction.Outcome.NotCommitted _ -> throw new AssertionError("a commit knows why");
        case Transaction.Outcome.Unknown(Transaction.Id id) -> {
          doubtful.add(new Doubtful(attempt, id));
          throw new Unavailable("the outcome of " + attempt.id + " is unknown");
        }
      }
    }

    private void committed(Attempt attempt, @Nullable LogAddress address) {
      attempt.open.committed();
      if (attempt.adds && !attempt.asks && attempt.explicit != null) {
        if (attempt.additionsBefore < additionsToShelf) {
          trace.reached("additions commit beside others");
        }
      }
      if (attempt.adds) additionsToShelf++;
      if (attempt.appends) changesOfShelf++;
      if (attempt.appended.isEmpty()) return;
      together.add(attempt.appended);
      if (address == null) return;
      for (String one : attempt.appended) committedAt.put(one, address);
    }

    // ---- transactions that the store tries again

    private void transact() {
      boolean reading = chance.percent(25);
      String id = "r" + ids++;
      var plan = plan(reading);
      boolean rollsBack = chance.percent(10);
      boolean nested = !reading && chance.percent(30);
      var attempts = new ArrayList<Attempt>();
      try {
        store.await(() -> {
          store
              .stoa()
              .transact(
                  reading ? TxOptions.reading() : TxOptions.STANDARD,
                  () -> {
                    if (!attempts.isEmpty()) attempts.getLast().open.aborted();
                    trace.add(id + " attempt " + attempts.size());
                    var attempt = new Attempt(id, history.begin(id), null);
                    attempts.add(attempt);
                    for (Step step : plan) {
                      step.run(attempt);
                      if (depth == 0 && attempts.size() < DISTURBED_MAX && chance.percent(40))
                        elsewhere();
                    }
                    if (nested) nest(attempt);
                    if (rollsBack) throw new RolledBack();
                    return true;
                  });
          return true;
        });
        Attempt last = attempts.getLast();
        committed(last, null);
        trace.add(id + " is committed");
        trace.reached(attempts.size() > 1 ? "a body is tried again" : "a body is run");
        Demand.that(!reading || attempts.size() == 1, "who only reads never conflicts");
      } catch (RolledBack thrown) {
        attempts.getLast().open.aborted();
        trace.add(id + " rolls back");
        trace.reached("a body rolls back");
      } catch (IllegalStateException thrown) {
        rethrown(thrown);
        attempts.getLast().open.aborted();
        trace.add(id + " throws");
      } catch (UnknownOutcome unknown) {
        trace.add(id + " is unknown");
        trace.reached("a body ends with UnknownOutcome");
        doubtful.add(new Doubtful(attempts.getLast(), null));
        throw new Unavailable("the outcome of " + id + " is unknown", unknown);
      } catch (StoaException failed) {
        if (!attempts.isEmpty()) attempts.getLast().open.aborted();
        trace.add(id + " fails with " + failed.getClass().getSimpleName());
        trace.reached("a body ends with " + failed.getClass().getSimpleName());
        expected(failed);
      }
    }

    /// Runs a transaction that single calls abort again and again, until the store holds them back.
    private void starve() {
      int index = chance.below(SERIES);
      String id = "s" + ids++;
      var attempts = new ArrayList<Attempt>();
      try {
        store.await(() ->
            store
                .stoa()
                .transact(() -> {
                  if (!attempts.isEmpty()) attempts.getLast().open.aborted();
                  var attempt = new Attempt(id, history.begin(id), null);
                  attempts.add(attempt);
                  read(attempt, index);
                  elsewhere(() -> disturb(index, attempts.size() <= STARVED));
                  append(attempt, index);
                  return true;
                }));
        committed(attempts.getLast(), null);
        trace.add(id + " is committed after " + attempts.size());
        trace.reached("a starving transaction commits");
        Demand.that(
            attempts.size() <= STARVED + BEYOND, id + " took " + attempts.size() + " attempts");
      } catch (UnknownOutcome unknown) {
        doubtful.add(new Doubtful(attempts.getLast(), null));
        throw new Unavailable("the outcome of " + id + " is unknown", unknown);
      } catch (StoaException failed) {
        if (!attempts.isEmpty()) attempts.getLast().open.aborted();
        trace.add(id + " fails with " + failed.getClass().getSimpleName());
        expected(failed);
      }
    }

    /// Makes single calls on a list while a transaction uses it.
    ///
    /// @param waits whether the calls are executed before this returns
    private void disturb(int index, boolean waits) {
      for (int i = chance.between(1, 3); i > 0; i--) ask(index, APPEND);
      var last = asked.getLast().future();
      for (int i = 0; i < STEPS && (waits ? !last.isDone() : i < 10); i++) store.step();
    }

    /// Runs a nested transaction, which may roll back alone.
    private void nest(Attempt attempt) {
      int index = chance.below(SERIES);
      if (chance.percent(50)) {
        store
            .stoa()
            .transact(() -> {
              append(attempt, index);
              return true;
            });
        trace.reached("a nested transaction is kept");
        return;
      }
      try {
        store
            .stoa()
            .transact(() -> {
              series.get(index).append(element(attempt));
              throw new RolledBack();
            });
      } catch (RolledBack thrown) {
        trace.reached("a nested transaction is dropped");
      }
      read(attempt, index);
    }

    /// Does other work, on a thread of its own, which is not in the transaction.
    private void elsewhere() {
      elsewhere(() -> {
        for (int i = chance.between(1, 4); i > 0; i--) work();
      });
    }

    private void elsewhere(Runnable other) {
      depth++;
      var work = new FutureTask<>(other, true);
      var thread = new Thread(work, "elsewhere");
      thread.start();
      try {
        thread.join();
        work.get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException e) {
        // When the store is lost, this transaction will find that too.
        switch (e.getCause()) {
          case Unavailable lost -> throw lost;
          case AssertionError error -> throw error;
          case null, default -> throw new AssertionError("elsewhere: " + e.getCause(), e);
        }
      } finally {
        depth--;
      }
    }

    // ---- single calls

    private void ask() {
      ask(chance.below(SERIES), chance.below(6));
    }

    private void ask(int index, int kind) {
      int other = (index + chance.between(1, SERIES - 1)) % SERIES;
      String id = "c" + ids++;
      var opens = new ArrayList<TransactionHistory.Open>();
      opens.add(history.begin(id));
      var stoa = store.stoa();
      CompletableFuture<List<String>> future;
      String element = "";
      String key = key(index);
      String list = chance.of(ShelfSteps.LISTS);
      switch (kind) {
        case 4 -> {
          key = list;
          future = stoa.async(shelf.getFirst(), s -> s.elements(list));
        }
        case 5 -> {
          key = list;
          opens.get(0).append(list, id);
          element = id;
          changesOfShelf++;
          future = stoa.async(shelf.getFirst(), s -> s.append(list, id));
        }
        case 0 -> future = stoa.async(series.get(index), SimulatedSeries::elements);
        case 1 -> {
          // Two changes, each of which happens by itself.
          opens.add(history.begin(id + "'"));
          opens.get(0).append(key(index), id);
          opens.get(1).append(key(other), id);
          element = id;
          future = stoa.async(series.get(index), s -> s.appendBehind(series.get(other), id));
        }
        default -> {
          opens.get(0).append(key(index), id);
          element = id;
          future = stoa.async(series.get(index), s -> s.append(id));
        }
      }
      trace.add(id + " on " + index + (opens.size() > 1 ? " and " + other : "") + " " + element);
      asked.add(new PendingCall(future, key, element, opens));
    }

    private void collect() {
      for (var one : List.copyOf(asked)) {
        if (!one.future().isDone()) continue;
        if (one.appendsToShelf()) changesOfShelf++;
        try {
          List<String> all = one.future().join();
          // An answer with a list that the call also changed shows the list at that moment.
          one.opens().get(0).read(one.key(), all);
          one.opens().forEach(TransactionHistory.Open::committed);
          asked.remove(one);
        } catch (CompletionException thrown) {
          Throwable cause = thrown.getCause();
          trace.add(
              "a call ends with " + (cause == null ? thrown : cause).getClass().getSimpleName());
          switch (cause) {
            case LimitExceeded _, Unavailable _, Deadlock _ -> {
              one.opens().forEach(TransactionHistory.Open::aborted);
              asked.remove(one);
            }
            case UnknownOutcome _ -> {} // known after the restart
            case null, default -> throw new AssertionError("unexpected of a call", thrown);
          }
        }
      }
    }

    // ---- the whole

    /// Reads everything at one moment.
    private Map<String, List<String>> readAll(TxOptions options) {
      String id = "a" + ids++;
      boolean past = options.at() != null;
      Transaction[] explicit = new Transaction[1];
      var open = past ? null : history.begin(id);
      Map<String, List<String>> lists = new TreeMap<>();
      try {
        store.await(() -> {
          try (Transaction transaction = store.stoa().begin(options)) {
            explicit[0] = transaction;
            var attempt = new Attempt(id, history.begin(id + " checks"), transaction);
            attempt.open.aborted();
            for (int i = 0; i < SERIES; i++) {
              lists.put(key(i), transaction.on(series.get(i)).elements());
            }
            for (String name : names) follow(attempt, name);
            ring.require(attempt.references);
            audit(attempt);
            probe.saw(id, transaction.on(pair.get(0)).value(), transaction.on(pair.get(1)).value());
            transaction.commit();
            return true;
          }
        });
      } catch (StoaException failed) {
        if (open != null) open.aborted();
        expected(failed);
        return Map.of();
      }
      trace.add(id + " " + lists);
      if (open != null) {
        lists.forEach(open::read);
        open.committed();
        if (remembered.size() < REMEMBERED_MAX) {
          remembered.add(new Remembered(explicit[0].at(), lists));
        }
      }
      return lists;
    }

    /// Reads the state at an earlier moment again.
    private void readAgain() {
      if (remembered.isEmpty()) return;
      var then = chance.of(remembered);
      var now = readAll(TxOptions.readingAt(then.at()));
      if (now.isEmpty()) return;
      trace.reached("the past is read");
      Demand.that(
          now.equals(then.lists()),
          "what was there at %s is still: %s, not %s".formatted(then.at(), then.lists(), now));
    }

    /// Leaves little room on the disk, or enough again.
    private void room() {
      if (!(disk.disk() instanceof SimulatedDisk simulated)) return;
      boolean little = chance.percent(70);
      trace.add(little ? "little room" : "room");
      simulated.limit(little ? simulated.bytes() + chance.below(8 << 10) : Long.MAX_VALUE / 2);
    }

    private void restart() {
      collect();
      if (disk.disk() instanceof SimulatedDisk simulated) simulated.limit(Long.MAX_VALUE / 2);
      for (int i = 0; i < CLIENTS; i++) {
        Client client = clients.set(i, null);
        if (client != null) client.attempt().open.aborted();
      }
      store.restart();
      recover();
    }

    private void recover() {
      boolean recovered = false;
      for (int attempt = 0; !recovered; attempt++) {
        if (attempt == ATTEMPTS_MAX) store.calm();
        trace.add("restart");
        trace.reached("a restart");
        try {
          store.await(() -> {
            find();
            // Reading resumes the calls in flight.
            for (var one : series) one.elements();
            if (holdsShelf) holdShelf();
            return true;
          });
          settle();
          recovered = true;
        } catch (StoaException failed) {
          trace.add("recovery failed " + failed.getClass().getSimpleName());
          trace.reached("the disk fails during a recovery");
          store.restart();
        }
      }
      for (var one : asked) one.opens().forEach(TransactionHistory.Open::lost);
      asked.clear();
      Serializability.require(history.transactions());
    }

    /// Keeps the shelf in memory until the next restart, by a transaction that has read it.
    private void holdShelf() {
      Transaction before = reader;
      if (before != null) before.close();
      Transaction now = store.stoa().begin(TxOptions.reading());
      reader = now;
      var _ = now.on(shelf.getFirst()).all();
    }

    /// Asks for the outcomes of transactions with an unknown outcome.
    private void settle() {
      while (!doubtful.isEmpty()) {
        var one = doubtful.getFirst();
        Transaction.Id id = one.id();
        if (id == null) {
          one.attempt().open.lost();
        } else {
          switch (store.await(() -> store.stoa().outcome(id))) {
            case Transaction.Outcome.Committed(LogAddress address) -> {
              trace.reached("an unknown outcome was a commit");
              committed(one.attempt(), address);
            }
            case Transaction.Outcome.NotCommitted _ -> {
              trace.reached("an unknown outcome was no commit");
              one.attempt().open.aborted();
            }
            case Transaction.Outcome other -> throw new AssertionError("unexpected: " + other);
          }
        }
        doubtful.removeFirst();
      }
    }

    private void find() {
      var stoa = store.stoa();
      series.clear();
      shelf.clear();
      nodes.clear();
      accounts.clear();
      pair.clear();
      boolean there = stoa.find(SimulatedSeries.class, key(0)).isPresent();
      Demand.that(there || !created, "what was created stays");
      if (!there) stoa.transact(() -> create(stoa));
      created = true;
      for (int i = 0; i < SERIES; i++) series.add(found(stoa.find(SimulatedSeries.class, key(i))));
      shelf.add(found(stoa.find(SimulatedShelf.class, "shelf")));
      for (String name : names) nodes.put(name, found(stoa.find(SimulatedNode.class, name)));
      for (int i = 0; i < ACCOUNTS; i++) {
        accounts.add(found(stoa.find(SimulatedAccount.class, "account " + i)));
      }
      for (int i = 0; i < 2; i++) pair.add(found(stoa.find(SimulatedRegister.class, "pair " + i)));
    }

    private static <T> T found(Optional<T> one) {
      return one.orElseThrow(() -> new AssertionError("a part of a transaction is missing"));
    }

    private boolean create(Stoa stoa) {
      for (int i = 0; i < SERIES; i++) stoa.create(SimulatedSeries.class, key(i));
      stoa.create(SimulatedShelf.class, "shelf");
      Map<String, SimulatedNode> made = new HashMap<>();
      for (String name : names) made.put(name, stoa.create(SimulatedNode.class, name));
      ring.references()
          .forEach((from, to) ->
              Objects.requireNonNull(made.get(from)).link(Objects.requireNonNull(made.get(to))));
      for (int i = 0; i < ACCOUNTS; i++) stoa.create(SimulatedAccount.class, "account " + i);
      stoa.create(SimulatedRegister.class, "pair 0").write(SUM / 2);
      stoa.create(SimulatedRegister.class, "pair 1").write(SUM - SUM / 2);
      return true;
    }

    /// Reads the stored streams: they must be dense and in the order of the log, and the elements
    /// of one transaction must have one log address.
    private void verifyStreams() {
      Map<String, LogAddress> addresses = new HashMap<>();
      for (int i = 0; i < SERIES; i++) {
        History<SimulatedSeries> past = store.stoa().history(series.get(i));
        long last = store.await(past::version);
        var entries = store.await(() -> past.entries(1, last));
        Demand.that(entries.size() == last, key(i) + " is dense up to " + last);
        for (int j = 0; j < entries.size(); j++) {
          var entry = entries.get(j);
          Demand.that(entry.version() == j + 1, key(i) + " is dense: " + entry);
          Demand.that(
              j == 0 || entries.get(j - 1).address().compareTo(entry.address()) <= 0,
              "the order of %s is that of the log: %s".formatted(key(i), entry));
        }
        int index = i;
        List<String> elements = store.await(() -> series.get(index).elements());
        List<Long> versions = store.await(() -> series.get(index).versions());
        for (int j = 0; j < elements.size(); j++) {
          var entry = entries.get(Math.toIntExact(versions.get(j)) - 1);
          addresses.put(key(i) + " " + elements.get(j), entry.address());
        }
      }
      committedAt.forEach((element, address) ->
          Demand.that(
              address.equals(addresses.get(element)),
              "%s is at %s, not %s".formatted(element, address, addresses.get(element))));
      var taken = new HashSet<LogAddress>();
      for (var elements : together) {
        var all = new HashSet<LogAddress>();
        for (String element : elements) all.add(Objects.requireNonNull(addresses.get(element)));
        Demand.that(all.size() == 1, elements + " have one address: " + all);
        Demand.that(taken.addAll(all), "a transaction has an address of its own");
      }
    }
  }
}
