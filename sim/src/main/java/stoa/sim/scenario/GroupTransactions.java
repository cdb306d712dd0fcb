package stoa.sim.scenario;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LogAddress;
import stoa.StoaException;
import stoa.StreamKey;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Key;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.TransactionHistory;
import stoa.sim.world.Fibers;
import stoa.sim.world.Links;
import stoa.sim.world.SeriesHandlers;
import stoa.store.calls.Pace;
import stoa.store.ordering.Coordinator;
import stoa.store.running.StoreTransaction;
import stoa.store.streams.StoredStreams;

/// The clients' transactions in [GroupsScenario], over lists and streams of one group or of
/// several. Not thread-safe: all clients are fibers of one thread.
final class GroupTransactions {
  private static final int COMMITS_MAX = 6;

  private final GroupsWorld world;
  private final GroupLists lists;
  private final GroupPast past;
  private final GroupAddresses addresses;

  // Null when transactions append to no streams.
  private final @Nullable GroupStreams streams;
  private final Chance chance;
  private final Trace trace;
  // The number of the last part of a transaction.
  private long numbers;

  GroupTransactions(
      GroupsWorld world,
      GroupLists lists,
      GroupPast past,
      GroupAddresses addresses,
      @Nullable GroupStreams streams,
      Chance chance,
      Trace trace) {
    this.world = world;
    this.lists = lists;
    this.past = past;
    this.addresses = addresses;
    this.streams = streams;
    this.chance = chance;
    this.trace = trace;
  }

  /// A transaction of a client, over all stores that it uses.
  private final class Across {
    private final String name;
    private final TransactionHistory.Open open;
    private final GroupsWorld.Owner first;
    private final SortedMap<Integer, Coordinator.Part> parts = new TreeMap<>();
    private final Map<Integer, GroupsWorld.Owner> owners = new TreeMap<>();
    private final LogAddress at;
    private final long beganMicros = world.fibers().micros();
    private int elements;
    private boolean extended;

    Across(String kind, GroupsWorld.Group begins) {
      name = lists.name(kind);
      open = lists.history().begin(name);
      GroupsWorld.Owner asked = begins.asked();
      if (asked == null) throw new Unavailable("there is nobody");
      first = asked;
      var part = part(begins);
      owners.put(begins.number(), first);
      at =
          world.ask(
              first,
              owner -> {
                StoreTransaction transaction = owner.store().begin(GroupsWorld.BOUNDS);
                owner.transactions().put(part, transaction);
                return transaction.at();
              });
    }

    private Coordinator.Part part(GroupsWorld.Group group) {
      return parts.computeIfAbsent(group.number(), _ -> new Coordinator.Part(7, ++numbers));
    }

    private <T> T on(
        GroupsWorld.Group group,
        Function<GroupsWorld.Owner, Function<StoreTransaction, T>> action) {
      GroupsWorld.Owner known = owners.get(group.number());
      GroupsWorld.Owner owner = known == null ? group.asked() : known;
      if (owner == null) throw new Unavailable("there is nobody");
      owners.put(group.number(), owner);
      var part = part(group);
      return world.ask(
          owner,
          asked -> {
            StoreTransaction transaction = asked.transactions().get(part);
            if (transaction == null && known == null) {
              transaction = asked.store().begin(GroupsWorld.BOUNDS, at);
              asked.transactions().put(part, transaction);
            }
            if (transaction == null) throw new Unavailable("the transaction has ended");
            return action.apply(asked).apply(transaction);
          });
    }

    void read(String key) {
      List<String> elements =
          on(
              world.groupOf(key),
              owner ->
                  transaction ->
                      SeriesHandlers.elements(
                          transaction.get(
                              owner.store().target(Key.of(GroupLists.ORDERED, key)),
                              "",
                              GroupLists.ANY,
                              Pace.SHORT)));
      open.read(key, elements);
      if (parts.isEmpty()) past.remember(at.counter(), key, elements);
    }

    void append(String key) {
      String element = name + "." + elements++;
      open.append(key, element);
      List<String> all =
          on(
              world.groupOf(key),
              owner ->
                  transaction ->
                      SeriesHandlers.elements(
                          transaction.put(
                              owner.store().target(Key.of(GroupLists.ORDERED, key)),
                              lists.value(GroupLists.ORDERED, element),
                              GroupLists.ANY,
                              Pace.SHORT)));
      open.read(key, all);
    }

    /// Appends to a stream.
    void extend(String stream) {
      String element = name + "." + elements++;
      open.append(stream, element);
      boolean _ =
          on(
              world.groupOf(stream),
              _ ->
                  transaction -> {
                    transaction.append(
                        StoredStreams.keyOf(StreamKey.of(stream)), GroupLists.bytes(element));
                    return true;
                  });
      extended = true;
    }

    /// Commits, also after a lost answer.
    void commit() {
      var id = new UUID(chance.any(), chance.any());
      boolean unknown = false;
      for (int attempt = 1; ; attempt++) {
        try {
          LogAddress address =
              world
                  .links()
                  .ask(
                      lifeOf(world.home().asked()),
                      true,
                      chance.between(1_000_000, 40_000_000),
                      committing(world.home().asked(), id));
          addresses.told(name, address);
          if (streams != null && extended) streams.appended(name, address);
          open.committed();
          trace.reached("a transaction over " + parts.size() + " stores is committed");
          if (unknown) trace.reached("an unknown outcome was a commit");
          return;
        } catch (Links.Lost | UnknownOutcome lost) {
          trace.reached("the outcome of a transaction is unknown");
          unknown = true;
          if (attempt == COMMITS_MAX) throw lost;
        } catch (StoaException refused) {
          if (!(refused instanceof Unavailable) || attempt == COMMITS_MAX) {
            // An earlier or repeated request may still be on its way.
            if (!unknown && !(refused instanceof Unavailable)) open.aborted();
            throw refused;
          }
          world.fibers().pause(chance.between(1, 1_000_000));
        }
      }
    }

    private Fibers.@Nullable Life lifeOf(GroupsWorld.@Nullable Owner owner) {
      return owner == null ? null : owner.life();
    }

    private Supplier<LogAddress> committing(GroupsWorld.@Nullable Owner home, UUID id) {
      return () -> {
        try {
          return Objects.requireNonNull(home).coordinator().commit(id, parts).join();
        } catch (CompletionException failed) {
          if (failed.getCause() instanceof RuntimeException cause) throw cause;
          throw failed;
        }
      };
    }

    void end() {
      parts.forEach((number, part) -> {
        GroupsWorld.Owner owner = owners.get(number);
        if (owner == null) return;
        owner.execute(() -> {
          StoreTransaction transaction = owner.transactions().remove(part);
          if (transaction != null) transaction.close();
        });
      });
    }
  }

  /// Runs a transaction.
  ///
  /// @param reads whether it only reads
  /// @param alone whether it uses one group only, and commits there
  void transact(boolean reads, boolean alone) {
    GroupsWorld.Group begins = chance.of(world.groups());
    var across = new Across(reads ? "look" : "tx", begins);
    try {
      for (int i = chance.between(1, 4); i > 0; i--) {
        String key = alone ? lists.anyKey(begins) : lists.anyKey();
        if (!reads && !alone && streams != null && chance.percent(40)) {
          across.extend(streams.any());
          trace.reached("a transaction appends to a stream");
        } else if (!reads && chance.percent(55)) across.append(key);
        else across.read(key);
      }
      if (reads) {
        across.open.committed();
        trace.reached("a transaction that reads is read");
      } else if (alone) {
        GroupLists.told(
            across.open,
            () ->
                across.on(
                    begins,
                    _ ->
                        transaction -> {
                          var _ = transaction.commit();
                          return true;
                        }));
      } else {
        across.commit();
      }
    } catch (Aborted lost) {
      trace.reached("a transaction is aborted");
      throw lost;
    } catch (TooOld released) {
      past.excuse(released, across.first, across.beganMicros);
    } finally {
      across.end();
    }
  }

  /// Runs a transaction over all groups.
  void everywhere() {
    var across = new Across("tx", world.groups().getFirst());
    try {
      for (GroupsWorld.Group group : world.groups()) across.append(GroupLists.key(group, 0));
      across.commit();
    } finally {
      across.end();
    }
  }
}
