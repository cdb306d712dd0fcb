package stoa.sim.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import stoa.AlreadyExists;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Gone;
import stoa.History;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.log.Layout;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.ExactlyOnce;
import stoa.sim.check.Linearizability;
import stoa.sim.check.RegisterModel;
import stoa.sim.check.SequentialModel;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.Recorder;
import stoa.sim.world.Runaway;
import stoa.sim.world.SimulatedAccount;
import stoa.sim.world.SimulatedList;
import stoa.sim.world.SimulatedRegister;
import stoa.sim.world.SimulatedStore;

/// Clients use shared objects of a whole store while its disk fails and the store restarts:
/// accounts that send each other money, along chains and in circles, registers, and lists that they
/// create and delete. Every acknowledged call must have happened once, registers and lists must be
/// linearizable, the sum of all money must stay the same, and the past must stay unchanged.
public final class EmbeddedScenario implements Scenario {
  private static final int ACCOUNTS = 4;
  private static final int REGISTERS = 2;
  private static final int LISTS = 2;
  private static final int TURNS = 100;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          .withLimits(
              Limits.standard()
                  .withCallTimeMax(Duration.ofMillis(500))
                  .withQueuedCallsMax(40)
                  // So little that objects leave memory all the time.
                  .withResidentBytesMax(4_000));

  private final String name;
  private final Layout layout;
  private final Function<Chance, PoweredDisk> disks;

  /// @param disks creates the disk of a run
  public EmbeddedScenario(String name, Layout layout, Function<Chance, PoweredDisk> disks) {
    this.name = name;
    this.layout = layout;
    this.disks = disks;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    PoweredDisk disk = disks.apply(chance.of("disk"));
    new Run(
            chance,
            trace,
            layout.shards() == 1
                ? new SimulatedStore(chance, CONFIG, disk)
                : new SimulatedStore(chance, CONFIG, layout, disk))
        .run();
  }

  /// A list that may be absent, as its clients see it.
  private sealed interface ListInput {
    record Create(String key) implements ListInput {}

    record Delete(String key) implements ListInput {}

    record Append(String key, String id) implements ListInput {}

    record Find(String key) implements ListInput {}

    String key();
  }

  private record ListModel()
      implements SequentialModel<Optional<List<String>>, ListInput, List<String>> {
    static final List<String> NO = List.of("no");
    static final List<String> YES = List.of("yes");

    @Override
    public Optional<List<String>> initial() {
      return Optional.empty();
    }

    @Override
    public Object partition(ListInput input) {
      return input.key();
    }

    @Override
    public Step<Optional<List<String>>, List<String>> apply(
        Optional<List<String>> state, ListInput input) {
      return switch (input) {
        case ListInput.Create _ when state.isPresent() -> new Step<>(state, NO);
        case ListInput.Create _ -> new Step<>(Optional.of(List.of()), YES);
        case ListInput.Delete _ -> new Step<>(Optional.empty(), state.isPresent() ? YES : NO);
        case ListInput.Find _ -> new Step<>(state, state.isPresent() ? YES : NO);
        case ListInput.Append(_, String id) -> {
          var longer = new ArrayList<>(state.orElse(List.of()));
          longer.add(id);
          yield new Step<>(Optional.of(List.copyOf(longer)), List.copyOf(longer));
        }
      };
    }
  }

  private record Sent(
      CompletableFuture<SimulatedAccount.Done> future, List<String> lists, String id) {}

  private record PendingCall(
      CompletableFuture<RegisterModel.Output> future,
      Recorder.Client<Keyed, RegisterModel.Output>.Open call) {}

  /// A call on one of several registers.
  private record Keyed(int register, RegisterModel.Input input) {}

  private record RegistersModel() implements SequentialModel<Long, Keyed, RegisterModel.Output> {
    private static final RegisterModel ONE = new RegisterModel();

    @Override
    public Long initial() {
      return ONE.initial();
    }

    @Override
    public Step<Long, RegisterModel.Output> apply(Long state, Keyed input) {
      return ONE.apply(state, input.input());
    }

    @Override
    public Object partition(Keyed input) {
      return input.register();
    }
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final AtomicLong time = new AtomicLong();
    private final ExactlyOnce ledger = new ExactlyOnce();
    private final Recorder<Keyed, RegisterModel.Output> registerCalls =
        new Recorder<>(time::incrementAndGet);
    private final Recorder<ListInput, List<String>> listCalls =
        new Recorder<>(time::incrementAndGet);
    private final List<Sent> sent = new ArrayList<>();
    private final List<PendingCall> asked = new ArrayList<>();
    private final List<SimulatedAccount> accounts = new ArrayList<>();
    private final List<SimulatedRegister> registers = new ArrayList<>();
    private final List<List<SimulatedAccount.Line>> lines = new ArrayList<>();
    private final Map<String, String> stamps = new HashMap<>();
    private long balances;
    private int ids;

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance.of("work");
      this.trace = trace;
      this.store = store;
    }

    void run() {
      ScopedValue.where(Runaway.TIME, this::runAway).run(this::inTime);
    }

    private void runAway() {
      for (int i = 0; i < 12; i++) store.tick();
    }

    private void inTime() {
      recover();
      for (int turn = 0; turn < TURNS; turn++) {
        store.passTime(Duration.ofMillis(chance.below(10)));
        int dice = chance.below(100);
        try {
          if (dice < 35) send();
          else if (dice < 50) register();
          else if (dice < 80) step();
          else if (dice < 90) list();
          else if (dice < 96) check();
          else restart();
          collect();
        } catch (Unavailable failed) {
          trace.add("failed " + failed.getClass().getSimpleName());
          restart();
        }
      }
      store.calm();
      restart();
      for (int i = 0; i < 5; i++) send();
      check();
      restart();
      verifyHistory();
      Linearizability.require(new RegistersModel(), registerCalls.history());
      Linearizability.require(new ListModel(), listCalls.history());
      trace.add("end " + listCalls.history() + " " + store.diskDigest());
    }

    private void step() {
      for (int i = chance.between(1, 6); i > 0; i--) store.step();
    }

    // ---- accounts

    private void send() {
      String id = "i" + ids++;
      int from = chance.below(ACCOUNTS);
      int via = other(from);
      int to = other(via);
      long amount = chance.between(1, 50);
      var account = accounts.get(from);
      String padded = id + " " + "x".repeat(chance.of(List.of(0, 50, 3_000)));
      trace.add(id + " " + from + " " + via + " " + to + " " + amount);
      switch (chance.below(10)) {
        case 0, 1 -> sent(id, call(account, a -> a.add(padded)), "added " + from);
        case 2 -> sent(id, call(account, a -> a.addAndThrow(padded)), "added " + from);
        case 3 -> sent(id, call(account, a -> a.addAndRunAway(padded)), "added " + from);
        case 4, 5 ->
            sent(
                id,
                call(account, a -> a.pass(padded, accounts.get(via), accounts.get(to), amount)),
                "sent " + from,
                "sent " + via,
                "taken " + to);
        case 6 -> {
          var _ = call(account, a -> a.peek(accounts.get(via)));
        }
        default ->
            sent(
                id,
                call(account, a -> a.send(padded, accounts.get(via), amount)),
                "sent " + from,
                "taken " + via);
      }
    }

    private <T, R> CompletableFuture<R> call(T shared, stoa.Call1<T, R> call) {
      return store.stoa().async(shared, call);
    }

    private int other(int index) {
      return (index + chance.between(1, ACCOUNTS - 1)) % ACCOUNTS;
    }

    private void sent(String id, CompletableFuture<SimulatedAccount.Done> future, String... lists) {
      for (String list : lists) ledger.begin(list, id);
      sent.add(new Sent(future, List.of(lists), id));
    }

    private void collectSent(Sent one) {
      try {
        acknowledge(one, one.future().join().versions());
      } catch (CompletionException thrown) {
        Throwable cause = Objects.requireNonNullElse(thrown.getCause(), thrown);
        trace.reached("a call ends with " + cause.getClass().getSimpleName());
        trace.add(one.id() + " " + cause.getClass().getSimpleName());
        switch (cause) {
          case IllegalStateException e -> {
            String text = String.valueOf(e.getMessage());
            acknowledge(one, List.of(Long.parseLong(text.substring("thrown at ".length()))));
          }
          case Deadlock _, DeadlineExceeded _, LimitExceeded _, Unavailable _, Gone _ -> {
            for (String list : one.lists()) ledger.refused(list, one.id());
          }
          case UnknownOutcome _ -> {}
          default -> throw new AssertionError("unexpected of " + one.id() + ": " + cause, cause);
        }
      }
    }

    private void acknowledge(Sent one, List<Long> versions) {
      trace.add(one.id() + " " + versions);
      trace.reached("a call at depth " + versions.size() + " is done");
      Demand.that(
          versions.size() == one.lists().size(), one.id() + " is answered with all versions");
      for (int i = 0; i < versions.size(); i++) {
        ledger.acknowledged(one.lists().get(i), one.id(), versions.get(i));
      }
    }

    // ---- registers

    private void register() {
      int index = chance.below(REGISTERS);
      var shared = registers.get(index);
      long value = chance.below(5);
      long expected = chance.below(5);
      var client = registerCalls.client("client");
      switch (chance.below(3)) {
        case 0 -> {
          var call = client.begin(new Keyed(index, new RegisterModel.Input.Read()));
          asked(
              call(shared, SimulatedRegister::value).thenApply(RegisterModel.Output.Value::new),
              call);
        }
        case 1 -> {
          var call = client.begin(new Keyed(index, new RegisterModel.Input.Write(value)));
          CompletableFuture<RegisterModel.Output> future =
              call(shared, register -> register.write(value))
                  .thenApply(_ -> new RegisterModel.Output.Done());
          asked(future, call);
        }
        default -> {
          var call = client.begin(new Keyed(index, new RegisterModel.Input.Swap(expected, value)));
          asked(
              call(shared, register -> register.swap(expected, value))
                  .thenApply(RegisterModel.Output.Swapped::new),
              call);
        }
      }
    }

    private void asked(
        CompletableFuture<? extends RegisterModel.Output> future,
        Recorder.Client<Keyed, RegisterModel.Output>.Open call) {
      asked.add(new PendingCall(future.thenApply(output -> output), call));
    }

    private void collectAsked(PendingCall one) {
      try {
        one.call().returned(one.future().join());
      } catch (CompletionException thrown) {
        switch (thrown.getCause()) {
          case LimitExceeded _, Unavailable _ -> one.call().refused();
          case UnknownOutcome _ -> {}
          case null, default -> throw new AssertionError("unexpected of a register", thrown);
        }
      }
    }

    // ---- lists

    private void list() {
      String key = "list " + chance.below(LISTS);
      var client = listCalls.client("client");
      ListInput input =
          switch (chance.below(6)) {
            case 0 -> new ListInput.Create(key);
            case 1 -> new ListInput.Delete(key);
            case 2 -> new ListInput.Find(key);
            default -> new ListInput.Append(key, "e" + ids++);
          };
      var call = client.begin(input);
      try {
        List<String> answer = store.await(() -> answer(input));
        trace.add(input + " " + answer);
        call.returned(answer);
      } catch (LimitExceeded | Unavailable refused) {
        trace.add(input + " refused");
        call.refused();
        restart();
      } catch (StoaException unknown) {
        trace.add(input + " " + unknown.getClass().getSimpleName());
        trace.reached("a list ends with " + unknown.getClass().getSimpleName());
        restart();
        call.lost();
      }
    }

    private List<String> answer(ListInput input) {
      var stoa = store.stoa();
      return switch (input) {
        case ListInput.Create(String key) -> {
          try {
            stoa.create(SimulatedList.class, key);
            yield ListModel.YES;
          } catch (AlreadyExists exists) {
            yield ListModel.NO;
          }
        }
        case ListInput.Delete(String key) -> delete(stoa.get(SimulatedList.class, key));
        case ListInput.Find(String key) ->
            stoa.find(SimulatedList.class, key).isPresent() ? ListModel.YES : ListModel.NO;
        case ListInput.Append(String key, String id) ->
            stoa.get(SimulatedList.class, key).append(id);
      };
    }

    /// Deletes a list, and trims half of the lists before, so that only the deletion is left.
    private List<String> delete(SimulatedList list) {
      var history = store.stoa().history(list);
      boolean trimmed = ids % 2 == 0;
      if (trimmed) history.trim(history.version());
      boolean deleted = store.stoa().delete(list);
      if (trimmed && deleted && history.oldest() == history.version()) {
        trace.reached("a list is trimmed and deleted, and leaves nothing");
      }
      return deleted ? ListModel.YES : ListModel.NO;
    }

    // ---- crashes and checks

    private void collect() {
      for (var one : List.copyOf(sent)) {
        if (!one.future().isDone()) continue;
        sent.remove(one);
        collectSent(one);
      }
      for (var one : List.copyOf(asked)) {
        if (!one.future().isDone()) continue;
        asked.remove(one);
        collectAsked(one);
      }
    }

    private void restart() {
      collect();
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
            read();
            // Reading resumed the calls in flight; now they are over.
            read();
            return true;
          });
          recovered = true;
        } catch (StoaException failed) {
          trace.add("recovery failed " + failed.getClass().getSimpleName());
          trace.reached("the disk fails during a recovery");
          store.restart();
        }
      }
      ledger.crashed();
      sent.clear();
      for (var one : asked) one.call().lost();
      asked.clear();
      verify();
    }

    private void find() {
      var stoa = store.stoa();
      accounts.clear();
      registers.clear();
      for (int i = 0; i < ACCOUNTS; i++) {
        String key = "account " + i;
        accounts.add(
            stoa.find(SimulatedAccount.class, key)
                .orElseGet(() -> stoa.create(SimulatedAccount.class, key)));
      }
      for (int i = 0; i < REGISTERS; i++) {
        String key = "register " + i;
        registers.add(
            stoa.find(SimulatedRegister.class, key)
                .orElseGet(() -> stoa.create(SimulatedRegister.class, key)));
      }
    }

    private void check() {
      boolean over =
          store.await(() -> {
            collect();
            return sent.isEmpty();
          });
      if (!over) return;
      try {
        store.await(() -> {
          read();
          return true;
        });
      } catch (StoaException failed) {
        trace.add("check failed " + failed.getClass().getSimpleName());
        restart();
        return;
      }
      verify();
    }

    private void read() {
      lines.clear();
      balances = 0;
      for (var account : accounts) {
        lines.add(account.lines());
        balances += account.balance();
      }
    }

    private void verify() {
      Map<String, List<ExactlyOnce.Entry>> lists = new TreeMap<>();
      for (int i = 0; i < ACCOUNTS; i++) {
        for (String word : List.of("added ", "sent ", "taken ")) {
          lists.put(word + i, new ArrayList<>());
        }
        String before = "";
        for (var line : lines.get(i)) {
          String id = line.id().substring(0, line.id().indexOf(' '));
          Objects.requireNonNull(lists.get(line.word() + " " + i))
              .add(new ExactlyOnce.Entry(id, line.version()));
          String known = stamps.putIfAbsent(i + " " + line.version() + " " + id, line.stamp());
          Demand.that(
              known == null || known.equals(line.stamp()),
              "time and chance are the same in a replay of " + id);
          String now = line.stamp().substring(0, line.stamp().indexOf(' '));
          Demand.that(
              before.isEmpty()
                  || !java.time.Instant.parse(now).isBefore(java.time.Instant.parse(before)),
              "time does not go back");
          before = now;
        }
      }
      lists.forEach((list, entries) -> ledger.require(list, entries, ExactlyOnce.Versions.RISING));
      Demand.that(
          balances == ACCOUNTS * SimulatedAccount.OPENING,
          "no money comes or goes; there is " + balances);
      trace.add("verified " + lists);
    }

    private void verifyHistory() {
      for (int i = 0; i < ACCOUNTS; i++) {
        var now = lines.get(i);
        History<SimulatedAccount> history = store.stoa().history(accounts.get(i));
        long last = store.await(history::version);
        var versions = new TreeSet<Long>();
        for (var entry : store.await(() -> history.entries(1, last))) versions.add(entry.version());
        Demand.that(
            versions.size() == last && (last == 0 || versions.first() == 1),
            "versions are dense, up to " + last + ": " + versions);
        for (long version = chance.between(1, 4);
            version <= last;
            version += chance.between(1, 9)) {
          long at = version;
          var then = store.await(() -> history.at(at).lines());
          var expected = now.stream().filter(line -> line.version() <= at).toList();
          Demand.that(
              then.equals(expected), "version " + at + " of account " + i + " is as it was");
          trace.reached("a past version is read");
        }
      }
    }
  }
}
