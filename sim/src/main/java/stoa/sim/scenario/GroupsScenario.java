package stoa.sim.scenario;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Keep;
import stoa.StoaException;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.GroupServers;
import stoa.sim.world.Links;
import stoa.sim.world.SimulatedServers;

/// Several stores with one order, each on its own replicated log. Their leaders die, or others
/// replace them; the network between them loses, repeats and delays messages. Clients add to lists
/// and read them, alone and in transactions over several stores.
///
/// Handlers call keys of other stores, which call others, also in circles. Clients append to
/// streams, alone and in transactions, read and follow them. Clients release the past, except for
/// the versions that named snapshots, transactions, and other readers need.
///
/// All calls must be strictly serializable, keys without a place in the order each by itself; no
/// call happens twice or in part, including those of handlers; log addresses are unique over all
/// stores, and agree with real time; and when all failures have stopped, everything makes progress,
/// and all replicas of a store come level and show the same.
public final class GroupsScenario implements Scenario {
  private static final int CLIENTS = 4;
  private static final int TURNS = 20;

  // A crowd makes transactions at the same time, all over the stores.
  private static final int CROWD = 16;
  private static final int CROWD_TURNS = 5;

  // The most time that anything may take in a run, and after its troubles.
  private static final long TROUBLE_MICROS_MAX = 1_500_000_000L;
  private static final long CALM_MICROS_MAX = 1_500_000_000L;

  private final String name;
  private final Duration timeMax;
  private final GroupServers.Maker servers;

  /// Creates the scenario whose simulation chooses the leaders.
  public GroupsScenario() {
    this("groups", SimulatedRun.TIME_MAX, SimulatedServers::new);
  }

  /// Creates a scenario.
  ///
  /// @param timeMax the most time of a run
  /// @param servers makes the servers of each group
  public GroupsScenario(String name, Duration timeMax, GroupServers.Maker servers) {
    this.name = name;
    this.timeMax = timeMax;
    this.servers = servers;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Duration timeMax() {
    return timeMax;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(servers, chance, trace).run();
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final GroupsWorld world;
    private final GroupLists lists;
    private final GroupChains chains;
    private final GroupPast past;
    private final GroupAddresses addresses;
    private final GroupTransactions transactions;

    // Whether clients release the past.
    private final boolean trims;

    // Whether there is a crowd of clients, most of whose work is transactions.
    private final boolean crowd;
    private final Map<String, String> doing = new TreeMap<>();

    // Null when the stores release entries by themselves: they would release those of streams, too.
    private final @Nullable GroupStreams streams;
    private int clients;

    Run(GroupServers.Maker servers, Chance chance, Trace trace) {
      this.chance = chance.of("work");
      this.trace = trace;
      Chance trouble = chance.of("trouble");
      int stores = trouble.between(3, 4);
      Chance size = chance.of("crowd");
      crowd = size.percent(40);
      int keys = crowd ? size.between(2, 6) : trouble.between(1, 2);
      Chance releases = chance.of("past");
      trims = releases.percent(80);
      Keep keep = trims && releases.percent(50) ? Keep.versions(releases.below(4)) : Keep.all();
      boolean all = keep instanceof Keep.All;
      world = new GroupsWorld(servers, chance, this.chance, trouble, stores, keep, trace);
      lists = new GroupLists(world, keys, !all, this.chance, trace);
      streams =
          all
              ? new GroupStreams(
                  stores, new Streaming(), lists.history(), chance.of("streams"), trace)
              : null;
      chains = new GroupChains(world, lists, this.chance, trace);
      past = new GroupPast(world, lists, chains, this.chance, trace);
      addresses = new GroupAddresses(world, trace);
      transactions =
          new GroupTransactions(world, lists, past, addresses, streams, this.chance, trace);
    }

    void run() {
      world.begin();
      for (int i = 0; i < (crowd ? CROWD : CLIENTS); i++) {
        String name = "client " + i;
        clients++;
        world.execute(() -> client(name));
      }
      world.execute(world::trouble);
      until(TROUBLE_MICROS_MAX, () -> clients == 0);
      world.calm();
      var over = new boolean[1];
      world.execute(() -> {
        for (GroupsWorld.Group group : world.groups()) {
          insist(() -> lists.put(group, GroupLists.key(group, 0)));
        }
        insist(transactions::everywhere);
        insist(chains::readAll);
        if (streams != null) insist(streams::readAll);
        insist(lists::readAll); // last: calls without a waiting client may be logged until then
        over[0] = true;
      });
      until(world.fibers().micros() + CALM_MICROS_MAX, () -> over[0]);
      doing.put("the end", "wait for all replicas");
      until(world.fibers().micros() + CALM_MICROS_MAX, world::isLevel);
      lists.verify();
      addresses.verify(lists);
      trace.add("end " + lists.last() + " at " + world.fibers().micros());
    }

    private void until(long micros, Supplier<Boolean> over) {
      while (!over.get()) {
        Demand.that(
            world.fibers().step() && world.fibers().micros() < micros,
            "everything goes on, not " + doing);
      }
    }

    private void client(String name) {
      int turns = crowd ? CROWD_TURNS : TURNS;
      for (int turn = trims ? -turns / 2 : 0; turn < turns; turn++) {
        world
            .fibers()
            .pause(
                chance.between(1, crowd ? 10_000 : chance.of(List.of(1_000, 100_000, 2_000_000))));
        GroupsWorld.Group group = chance.of(world.groups());
        String key = lists.anyKey(group);
        int dice = crowd && chance.percent(60) ? 99 : chance.below(100);
        try {
          if (trims && chance.percent(30)) {
            doing(name, "work on the past", past::work);
            continue;
          }
          if (streams != null && chance.percent(35)) {
            doing(name, "work on streams", streams::work);
            continue;
          }
          if (dice < 15) doing(name, "chain", chains::chain);
          else if (dice < 25) doing(name, "put", () -> lists.put(group, key));
          else if (dice < 38) doing(name, "get", () -> lists.get(group, key));
          else if (dice < 45) doing(name, "ask both", () -> lists.askBoth(group));
          else if (dice < 52) doing(name, "loose", () -> lists.loose(group));
          else if (dice < 60) doing(name, "look again", past::lookAgain);
          else if (dice < 68) doing(name, "snapshot", past::snapshot);
          else
            doing(name, "transaction", () -> transactions.transact(dice < 75, chance.percent(15)));
        } catch (Links.Lost unknown) {
          trace.reached("a client is not answered");
        } catch (StoaException refused) {
          GroupsWorld.sound(refused);
          trace.reached("a client is refused with " + refused.getClass().getSimpleName());
        }
      }
      doing.remove(name);
      clients--;
    }

    /// The servers, seen from clients of streams.
    private final class Streaming implements GroupStreams.Servers {
      @Override
      public <T> T ask(int group, boolean repeats, Function<GroupStreams.Server, T> question) {
        return world.ask(
            world.groups().get(group).asked(),
            repeats,
            asked -> question.apply(new GroupStreams.Server(asked.store(), asked.appends())));
      }

      @Override
      public String name(String kind) {
        return lists.name(kind);
      }
    }

    private void doing(String name, String what, Runnable work) {
      doing.put(name, what);
      trace.add(name + " begins to " + what);
      work.run();
      trace.add(name + " has done");
    }

    /// Repeats work until it succeeds.
    private void insist(Runnable work) {
      while (true) {
        try {
          doing.putIfAbsent("the end", "insist");
          work.run();
          return;
        } catch (Links.Lost | StoaException again) {
          doing.put("the end", again.toString());
          world.fibers().pause(500_000);
        }
      }
    }
  }
}
