package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import stoa.StoaException;
import stoa.TooOld;
import stoa.UnknownOutcome;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Serializability;
import stoa.sim.check.TransactionHistory;
import stoa.sim.world.SeriesHandlers;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;

/// The clients' puts and questions on the lists of [GroupsScenario], and the history of the lists.
///
/// Ordered lists have a place in the common order of all groups. Each group also has a loose list,
/// which is in an order of its own. The name of a list contains the number of its group. Not
/// thread-safe: all clients are fibers of one thread.
final class GroupLists {
  /// The space of the ordered lists.
  static final String ORDERED = "ordered";

  /// The space of the loose lists.
  static final String LOOSE = "loose";

  static final Existence ANY = new Existence.Any(null);
  private static final int BLANKS = 24_000;

  private final GroupsWorld world;
  private final Chance chance;
  private final Trace trace;

  // The number of ordered lists of each group.
  private final int keys;

  // Whether elements are so large that the stores release entries by themselves.
  private final boolean large;
  private final TransactionHistory ordered = new TransactionHistory();
  private final Map<String, TransactionHistory> loose = new TreeMap<>();

  // The ordered lists at the end.
  private final Map<String, List<String>> last = new TreeMap<>();
  private int names;

  GroupLists(GroupsWorld world, int keys, boolean large, Chance chance, Trace trace) {
    this.world = world;
    this.keys = keys;
    this.large = large;
    this.chance = chance;
    this.trace = trace;
  }

  /// Returns the history of all operations that are in the common order.
  TransactionHistory history() {
    return ordered;
  }

  /// Returns an ordered list of a group.
  static String key(GroupsWorld.Group group, int index) {
    return "s" + group.number() + "." + index;
  }

  /// Returns one of the ordered lists of a group.
  String anyKey(GroupsWorld.Group group) {
    return key(group, chance.below(keys));
  }

  /// Returns one of all ordered lists.
  String anyKey() {
    return anyKey(chance.of(world.groups()));
  }

  /// Returns a new name of an operation.
  String name(String kind) {
    return kind + names++;
  }

  /// Returns the value of a put: large, so that the stores release entries by themselves.
  byte[] value(String space, String element) {
    return bytes(large && space.equals(ORDERED) ? element + " ".repeat(BLANKS) : element);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /// Waits for a put or question, as a client of a server does.
  private static Request joined(Request request) {
    var done = new CompletableFuture<Request>();
    request.whenDone(done::complete);
    return done.join();
  }

  private Pace pace() {
    return chance.percent(50) ? Pace.SHORT : Pace.LONG;
  }

  /// Puts an element to a list, in the process of a leader.
  List<String> put(GroupsWorld.Owner owner, String space, String key, String element) {
    Store store = owner.store();
    var target = store.target(Key.of(space, key));
    Pace pace = pace();
    return SeriesHandlers.elements(
        (chance.percent(50)
                ? store.put(target, Put.of(value(space, element)), Terms.expecting(ANY).at(pace))
                : joined(
                    store.putAsync(
                        target, Put.of(value(space, element)), Terms.expecting(ANY).at(pace))))
            .answer());
  }

  /// Returns a list, in the process of a leader.
  List<String> get(GroupsWorld.Owner owner, String space, String key) {
    Store store = owner.store();
    var target = store.target(Key.of(space, key));
    Pace pace = pace();
    return SeriesHandlers.elements(
        (chance.percent(50)
                ? store.get(target, "", Terms.expecting(ANY).at(pace))
                : joined(store.getAsync(target, "", Terms.expecting(ANY).at(pace))))
            .answer());
  }

  /// Adds an element to an ordered list.
  void put(GroupsWorld.Group group, String key) {
    put(ordered, group, ORDERED, key);
  }

  private void put(TransactionHistory history, GroupsWorld.Group group, String space, String key) {
    String name = name("put");
    var open = history.begin(name);
    open.append(key, name + ".0");
    told(
        open, () -> open.read(key, world.ask(group.asked(), o -> put(o, space, key, name + ".0"))));
  }

  /// Reads an ordered list.
  void get(GroupsWorld.Group group, String key) {
    get(ordered, group, ORDERED, key);
  }

  private void get(TransactionHistory history, GroupsWorld.Group group, String space, String key) {
    var open = history.begin(name("get"));
    told(open, () -> open.read(key, world.ask(group.asked(), o -> get(o, space, key))));
  }

  /// Asks a list of a group that asks another one: it sees both at one moment.
  void askBoth(GroupsWorld.Group group) {
    String key = key(group, chance.below(2));
    String other = key(group, chance.below(2));
    if (key.equals(other)) return;
    var open = ordered.begin(name("both"));
    told(
        open,
        () -> {
          var parts = world.ask(group.asked(), owner -> both(owner, key, other));
          open.read(key, parts.getFirst());
          open.read(other, parts.getLast());
        });
  }

  private List<List<String>> both(GroupsWorld.Owner owner, String key, String other) {
    Store store = owner.store();
    var target = store.target(Key.of(ORDERED, key));
    Pace pace = pace();
    boolean waits = chance.percent(50);
    Request alone =
        waits
            ? store.get(
                target,
                other,
                Terms.expecting(ANY).at(pace).within(GroupsWorld.STORE.callTimeMax()).alone())
            : joined(
                store.getAsync(
                    target,
                    other,
                    Terms.expecting(ANY).at(pace).within(GroupsWorld.STORE.callTimeMax()).alone()));
    if (!alone.isMoved()) return SeriesHandlers.parts(alone.answer());
    trace.reached("a list that asks another one is asked as of one moment");
    try (var moment = waits ? store.beginQuestion() : store.beginQuestion(alone)) {
      return SeriesHandlers.parts(moment.get(target, other, ANY, Pace.LONG));
    } catch (TooOld released) {
      // Its moment was ahead of the present.
      if (waits) throw released;
      trace.reached("a question is asked again, as of a later moment");
      try (var moment = store.beginQuestion()) {
        return SeriesHandlers.parts(moment.get(target, other, ANY, Pace.LONG));
      }
    }
  }

  /// Adds an element to the loose list of a group, or reads it.
  void loose(GroupsWorld.Group group) {
    String key = "l" + group.number();
    var history = loose.computeIfAbsent(key, _ -> new TransactionHistory());
    if (chance.percent(50)) put(history, group, LOOSE, key);
    else get(history, group, LOOSE, key);
  }

  /// Ends an operation according to its client's result.
  static void told(TransactionHistory.Open open, Runnable work) {
    try {
      work.run();
      open.committed();
    } catch (UnknownOutcome unknown) {
      throw unknown;
    } catch (StoaException refused) {
      open.aborted();
      throw refused;
    }
  }

  // ---- at the end

  /// Reads all lists for the last time. May be repeated when it fails.
  void readAll() {
    var open = ordered.begin(name("all"));
    for (GroupsWorld.Group group : world.groups()) {
      for (int i = 0; i < keys; i++) {
        String key = key(group, i);
        last.put(key, world.ask(group.asked(), owner -> get(owner, ORDERED, key)));
      }
    }
    last.forEach(open::read);
    open.committed();
    for (GroupsWorld.Group group : world.groups()) {
      String key = "l" + group.number();
      var history = loose.get(key);
      if (history != null) get(history, group, LOOSE, key);
    }
  }

  /// Returns the ordered lists as they were read last.
  Map<String, List<String>> last() {
    return last;
  }

  /// Fails unless the histories of all lists are strictly serializable.
  void verify() {
    Serializability.require(ordered.transactions());
    loose.values().forEach(history -> Serializability.require(history.transactions()));
  }
}
