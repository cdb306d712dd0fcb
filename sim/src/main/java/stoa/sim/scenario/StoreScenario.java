package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Gone;
import stoa.Keep;
import stoa.LimitExceeded;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.BatchLog;
import stoa.log.Layout;
import stoa.log.LocalBatchLog;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.ExactlyOnce;
import stoa.sim.world.PoweredDevice;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.PoweredGlobalLog;
import stoa.sim.world.SimulatedThreads;
import stoa.sim.world.StoreHandlers;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.StorageException;
import stoa.store.Store;
import stoa.store.StoreConfig;
import stoa.store.calls.OngoingCall;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;

/// Clients ask the handlers of a store to add ids and to send money to each other, along chains and
/// in circles, while the disk fails and the store restarts. Every acknowledged id must be at its
/// acknowledged place, once; every amount sent must be taken, once; and the sum of all money must
/// stay the same. The callers of an account must hear the answers in the order of its executions.
/// When the run releases the past, the rest of it must stay unchanged.
public final class StoreScenario implements Scenario {
  private static final int ACCOUNTS = 5;
  private static final int TURNS = 120;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final DeviceConfig DEVICE = new DeviceConfig(32 << 10, 4 << 10, 4 << 10, 8 << 10);
  // So little that accounts leave memory all the time.
  private static final StoreConfig STORE =
      new StoreConfig(Duration.ofMillis(500), 50, 3_000, 8, Duration.ofMillis(1));

  private final String name;
  private final Layout layout;
  private final Keep keep;
  private final List<Integer> paddings;

  /// @param keep how much of the past the store keeps
  /// @param paddings the additional lengths of values, which bring checkpoints sooner or later
  StoreScenario(String name, Layout layout, Keep keep, List<Integer> paddings) {
    this.name = name;
    this.layout = layout;
    this.keep = keep;
    this.paddings = paddings;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace, layout, keep, paddings).run();
  }

  /// The log of the store.
  private record Base(Supplier<BatchLog> log, Runnable restart, Runnable calm) {
    static Base of(Layout layout, PoweredDisk disk) {
      if (layout.shards() == 1) {
        var device = new PoweredDevice(disk, DEVICE);
        return new Base(() -> new LocalBatchLog(device.device()), device::restart, device::calm);
      }
      var shards = new PoweredGlobalLog(layout, disk, DEVICE);
      return new Base(shards::leader, shards::restart, shards::calm);
    }
  }

  /// A request in progress, with its entry in the ledger.
  private record PendingRequest(String text, Request request, List<String> lists, String id) {}

  /// An answer that a caller has heard.
  ///
  /// @param version the version of the account with which the account gave the answer
  private record Heard(String account, String request, long version) {}

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final Base base;
    private final Keep keep;
    private final List<Integer> paddings;
    private final ExactlyOnce ledger = new ExactlyOnce();
    private final List<String> names = new ArrayList<>();
    private final List<PendingRequest> asked = new ArrayList<>();
    private final Map<String, List<String>> seen = new TreeMap<>();

    // The answers since the store was opened that are not checked yet, in the order of their
    // hearing; the next store has a list of its own.
    private List<Heard> heard = new ArrayList<>();

    // The last version of each account with which the open store has answered.
    private final Map<String, Long> heardVersions = new TreeMap<>();
    private SimulatedThreads threads;
    private Store store;
    private long micros = 1_000_000;
    private int ids;
    private int opened;

    Run(Chance chance, Trace trace, Layout layout, Keep keep, List<Integer> paddings) {
      this.chance = chance.of("work");
      this.trace = trace;
      this.keep = keep;
      this.paddings = paddings;
      for (int i = 0; i < ACCOUNTS; i++) names.add("a" + i);
      base =
          Base.of(
              layout,
              PoweredDisk.simulated(
                  chance.of("disk"), layout.shards() == 1 ? 40 : 25 * layout.shards()));
      threads = new SimulatedThreads(chance.of("threads"));
      store = open();
    }

    private Store open() {
      while (true) {
        threads = new SimulatedThreads(chance.of("threads " + opened++));
        var mine = threads;
        try {
          var made = new Store(STORE, base.log().get(), () -> micros, threads);
          made.register(StoreHandlers.SPACE, new StoreHandlers(() -> runAway(mine)));
          made.keep(keep);
          return made;
        } catch (StorageException | Unavailable failed) {
          trace.add("opening failed " + failed.getClass().getSimpleName());
          trace.reached("the disk fails while the store opens");
          base.restart().run();
        }
      }
    }

    private void runAway(SimulatedThreads mine) {
      for (int i = 0; i < 12; i++) mine.tick();
    }

    void run() {
      for (int turn = 0; turn < TURNS; turn++) {
        try {
          turn();
        } catch (Unavailable failed) {
          trace.add("failed " + failed.getClass().getSimpleName());
          trace.reached("the disk fails outside of a batch");
          restart();
        }
      }
      base.calm().run();
      restart();
      for (int i = 0; i < ACCOUNTS; i++) ask();
      check();
      verify();
      restart();
      verify();
      verifyHistory();
    }

    private void turn() {
      micros += chance.below(5_000);
      int dice = chance.below(100);
      if (dice < 55) ask();
      else if (dice < 85) step(chance.between(1, 8));
      else if (dice < 90) peek();
      else if (dice < 95) check();
      else if (dice < 96) trim();
      else if (dice < 97) threads.tick();
      else if (dice < 98) cancel();
      else restart();
      collect();
    }

    private void trim() {
      if (keep instanceof Keep.All) return;
      var key = StoreHandlers.key(chance.of(names));
      try {
        long oldest =
            threads.await(() -> {
              long position = store.position(key);
              return store.trim(key, position - Math.min(position, chance.below(5)));
            });
        trace.add(key + " is trimmed before " + oldest);
      } catch (stoa.StoaException failed) {
        trace.add("trim failed " + failed.getClass().getSimpleName());
        restart();
      }
    }

    /// Cancels a call, as an operator does, that calls no other account: changes that it has made
    /// elsewhere would stand.
    private void cancel() {
      for (OngoingCall call : store.calls(10)) {
        byte[] value = call.value();
        if (value != null && new String(value, StandardCharsets.UTF_8).startsWith("add ")) {
          trace.add("cancel a call on " + call.key());
          if (store.cancel(call.id())) trace.reached("an operator cancels a call");
          return;
        }
      }
    }

    private void step(int count) {
      for (int i = 0; i < count; i++) threads.step();
    }

    private void ask() {
      String id = "i" + ids++;
      String from = chance.of(names);
      String to = other(from);
      String amount = Integer.toString(chance.between(1, 50));
      switch (chance.below(10)) {
        case 0, 1, 2 -> put(from, "add " + id, id, "added " + from);
        case 3 -> put(from, "run " + id, id, "added " + from);
        case 4, 5 -> {
          String via = other(from);
          String end = other(via);
          put(
              from,
              "pass " + id + " " + via + " " + end + " " + amount,
              id,
              "sent " + from,
              "sent " + via,
              "taken " + end);
        }
        default ->
            put(from, "send " + id + " " + to + " " + amount, id, "sent " + from, "taken " + to);
      }
    }

    private String other(String name) {
      return names.get((names.indexOf(name) + chance.between(1, ACCOUNTS - 1)) % ACCOUNTS);
    }

    private void put(String name, String value, String id, String... lists) {
      for (String list : lists) ledger.begin(list, id);
      trace.add(name + " " + value);
      byte[] bytes =
          (value + " " + "x".repeat(chance.of(paddings))).getBytes(StandardCharsets.UTF_8);
      try {
        var target = store.target(StoreHandlers.key(name));
        boolean hasty = value.startsWith("add ") && chance.below(3) == 0;
        Duration timeMax = hasty ? Duration.ofMillis(50) : STORE.callTimeMax();
        var any = new Existence.Any(null);
        var request =
            store.putAsync(target, Put.of(bytes), Terms.expecting(any).at(pace()).within(timeMax));
        asked.add(new PendingRequest(value, request, List.of(lists), id));
        hear(name, value, request);
        if (ids % 3 == 0) store.writeGathered();
      } catch (LimitExceeded refused) {
        trace.reached("too many calls are refused");
        for (String list : lists) ledger.refused(list, id);
      }
    }

    /// Returns a pace. Many calls claim to be brief, and are not: one that calls others then has to
    /// make way.
    private Pace pace() {
      return ids % 4 == 0 ? Pace.SHORT : Pace.BRIEF;
    }

    private void peek() {
      String name = chance.of(names);
      var target = store.target(StoreHandlers.key(name));
      try {
        String query = "peek " + other(name);
        var request =
            store.getAsync(
                target,
                query,
                Terms.expecting(new Existence.Any(null)).at(pace()).within(STORE.callTimeMax()));
        hear(name, query, request);
      } catch (LimitExceeded refused) {
        trace.reached("too many calls are refused");
      }
    }

    /// Notes when the caller of a request hears its answer.
    private void hear(String name, String text, Request request) {
      var mine = heard;
      request.whenDone(done -> {
        if (done.failed()) return;
        List<String> words = words(text(done.answer()));
        if (words.size() < 2 || words.getFirst().equals("refused")) return;
        mine.add(new Heard(name, text, Long.parseLong(words.get(1))));
      });
    }

    private void checkOrder() {
      for (Heard one : heard) {
        long before = heardVersions.getOrDefault(one.account(), 0L);
        Demand.that(
            one.version() >= before,
            "the answers of a key come in the order of its executions, not that of version "
                + before
                + " before "
                + one);
        heardVersions.put(one.account(), one.version());
      }
      heard.clear();
    }

    private void collect() {
      checkOrder();
      for (var one : List.copyOf(asked)) {
        if (!one.request().isDone()) continue;
        asked.remove(one);
        try {
          settle(one, text(one.request().answer()));
        } catch (DeadlineExceeded takenBack) {
          settle(one, "refused DeadlineExceeded");
        } catch (CallFailed cancelled) {
          settle(one, "refused CallFailed");
        } catch (Unavailable | Gone | AlreadyExists | LimitExceeded refused) {
          settle(one, "refused " + refused.getClass().getSimpleName());
        } catch (RuntimeException unknown) {
          trace.add(one.id() + " " + unknown.getClass().getSimpleName());
          trace.reached("a call ends with " + unknown.getClass().getSimpleName());
        }
      }
    }

    private void settle(PendingRequest one, String answer) {
      trace.add(one.id() + " " + answer);
      List<String> words = words(answer);
      if (words.getFirst().equals("refused")) {
        trace.reached("a call is refused with " + words.get(1));
        for (String list : one.lists()) ledger.refused(list, one.id());
        return;
      }
      Demand.that(
          words.getFirst().equals("done") && words.size() == one.lists().size() + 1,
          "an answer names all versions, not " + answer + " to " + one.text());
      for (int i = 0; i < one.lists().size(); i++) {
        ledger.acknowledged(one.lists().get(i), one.id(), Long.parseLong(words.get(i + 1)));
      }
      trace.reached("a call at depth " + (words.size() - 1) + " is done");
    }

    private void restart() {
      boolean read = false;
      for (int attempt = 0; !read; attempt++) {
        if (attempt == ATTEMPTS_MAX) base.calm().run();
        trace.add("restart");
        trace.reached("a restart");
        collect();
        if (asked.stream().anyMatch(one -> one.request().isHeld())) {
          trace.reached("an answer waits for a sync that does not come");
        }
        threads.close();
        base.restart().run();
        store = open();
        asked.clear();
        heard = new ArrayList<>();
        heardVersions.clear();
        try {
          if (!(keep instanceof Keep.All)) {
            threads.await(() -> {
              store.resume((space, key) -> new Key(space, key, space));
              return true;
            });
          }
          // Calls in flight resume when a client uses their objects; after that they are settled.
          readAll();
          readAll();
          read = true;
        } catch (stoa.StoaException failed) {
          trace.add("reading failed " + failed.getClass().getSimpleName());
          trace.reached("the disk fails while calls are resumed");
        }
      }
      ledger.crashed();
      verify();
    }

    private void check() {
      try {
        threads.settle();
        collect();
        if (!asked.isEmpty()) return;
        readAll();
        verify();
      } catch (stoa.StoaException failed) {
        trace.add("check failed " + failed.getClass().getSimpleName());
        restart();
      }
    }

    private void readAll() {
      for (String name : names) {
        var target = store.target(StoreHandlers.key(name));
        var request =
            threads.await(() -> store.get(target, "all", Terms.expecting(new Existence.Any(null))));
        seen.put(name, text(request.answer()).lines().toList());
      }
    }

    private void verify() {
      long sum = 0;
      Map<String, List<ExactlyOnce.Entry>> lists = new TreeMap<>();
      for (String name : names) {
        List<String> lines = seen.getOrDefault(name, List.of("" + StoreHandlers.OPENING));
        sum += Long.parseLong(lines.getFirst());
        for (String list : List.of("added ", "sent ", "taken ")) {
          lists.put(list + name, new ArrayList<>());
        }
        for (String line : lines.subList(1, lines.size())) {
          List<String> words = words(line);
          lists
              .computeIfAbsent(words.get(0) + " " + name, _ -> new ArrayList<>())
              .add(new ExactlyOnce.Entry(words.get(1), Long.parseLong(words.get(2))));
        }
      }
      lists.forEach((list, entries) -> ledger.require(list, entries, ExactlyOnce.Versions.RISING));
      Demand.that(
          sum == ACCOUNTS * StoreHandlers.OPENING, "no money comes or goes; there is " + sum);
      trace.add("verified " + seen);
    }

    /// Checks that any past state is a beginning of the present one.
    private void verifyHistory() {
      for (String name : names) {
        var key = StoreHandlers.key(name);
        long position = threads.await(() -> store.position(key));
        List<String> now = seen.getOrDefault(name, List.of("1000"));
        long oldest = store.oldest(key);
        if (oldest > 0) {
          tooOld(key, oldest - 1);
          trace.reached("a past version was released");
        }
        for (long version = Math.max(1, oldest);
            version <= position;
            version += chance.between(1, 5)) {
          long at = version;
          Answer answer =
              threads.await(
                  () -> store.past(key, at).get("all", new Existence.Any(null), Pace.LONG));
          List<String> then = text(answer).lines().toList();
          long expected =
              now.stream().skip(1).filter(line -> Long.parseLong(words(line).get(2)) <= at).count();
          Demand.that(
              then.subList(1, then.size()).equals(now.subList(1, (int) expected + 1)),
              "version " + at + " of " + name + " is a beginning of the present, not " + then);
          trace.reached("a past version is read");
        }
      }
    }

    private void tooOld(Key key, long version) {
      try {
        threads.await(
            () -> store.past(key, version).get("all", new Existence.Any(null), Pace.LONG));
      } catch (TooOld told) {
        Demand.that(told.version() == version && told.oldest() == version + 1, told.toString());
        return;
      }
      throw new AssertionError("version " + version + " of " + key + " was released");
    }

    private static String text(Answer answer) {
      return new String(answer.encoded(), StandardCharsets.UTF_8);
    }

    private static List<String> words(String text) {
      return Pattern.compile(" ").splitAsStream(text).toList();
    }
  }
}
