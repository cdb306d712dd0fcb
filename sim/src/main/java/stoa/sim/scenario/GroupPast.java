package stoa.sim.scenario;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.TooOld;
import stoa.base.Key;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.ChainHandlers;
import stoa.sim.world.SeriesHandlers;
import stoa.store.Store;
import stoa.store.blobs.Snapshots;
import stoa.store.calls.Pace;
import stoa.store.past.Pins;

/// The clients' work on the past in [GroupsScenario]: they release versions; they take, show and
/// delete snapshots with names; they read at one moment, and again later. Not thread-safe: all
/// clients are fibers of one thread.
final class GroupPast {
  private static final int REMEMBERED_MAX = 8;
  private static final int NAMED_MAX = 4;

  /// The list that a client saw at a log address, for a second look.
  private record PastView(long counter, String key, List<String> elements) {}

  /// A snapshot with a name, and the lists that it has shown.
  private static final class NamedSnapshot {
    private final String name;
    private final long counter;
    private final Map<String, List<String>> lists = new HashMap<>();
    private boolean leaves;

    NamedSnapshot(String name, long counter) {
      this.name = name;
      this.counter = counter;
    }
  }

  private final GroupsWorld world;
  private final GroupLists lists;
  private final GroupChains chains;
  private final Chance chance;
  private final Trace trace;
  private final List<PastView> remembered = new ArrayList<>();
  private final List<NamedSnapshot> named = new ArrayList<>();

  GroupPast(GroupsWorld world, GroupLists lists, GroupChains chains, Chance chance, Trace trace) {
    this.world = world;
    this.lists = lists;
    this.chains = chains;
    this.chance = chance;
    this.trace = trace;
  }

  /// Does some of the work on versions and named snapshots.
  void work() {
    int dice = chance.below(100);
    if (dice < 40) trim();
    else if (dice < 60 && named.size() < NAMED_MAX) take();
    else if (dice < 90) look();
    else delete();
  }

  /// Releases versions of a list, as far as nothing holds them.
  private void trim() {
    boolean chain = chance.percent(30);
    String name = chain ? chains.anyKey() : lists.anyKey();
    Key key = Key.of(chain ? ChainHandlers.space(name) : GroupLists.ORDERED, name);
    long released =
        world.ask(
            world.groupOf(name).asked(),
            owner -> {
              Store store = owner.store();
              long position = store.position(key);
              return store.trim(key, position - Math.min(position, chance.below(3)));
            });
    if (released > 0) trace.reached("the past is released");
  }

  private void take() {
    String name = lists.name("name");
    var open = lists.history().begin(name);
    Snapshots.Named taken = world.ask(world.home().asked(), owner -> owner.snapshots().take(name));
    var shown = new NamedSnapshot(name, taken.address().counter());
    named.add(shown);
    for (int i = chance.below(3); i > 0; i--) {
      String key = lists.anyKey();
      List<String> elements = shown(shown, key);
      if (elements != null) open.read(key, elements);
    }
    open.committed();
  }

  /// Reads a list in a snapshot that has existed for a while.
  private void look() {
    if (named.isEmpty()) return;
    NamedSnapshot shown = chance.of(named);
    if (chance.percent(50)) find(shown);
    if (shown(shown, lists.anyKey()) != null) trace.reached("a snapshot with a name is read");
  }

  private void find(NamedSnapshot shown) {
    Snapshots.Named found =
        world.ask(world.home().asked(), owner -> owner.snapshots().find(shown.name));
    Demand.that(
        shown.leaves || (found != null && found.address().counter() == shown.counter),
        shown.name + " is there still, at " + shown.counter + ", not " + found);
  }

  /// Returns the list that a snapshot shows; null when it was deleted meanwhile.
  private @Nullable List<String> shown(NamedSnapshot shown, String key) {
    try {
      List<String> elements =
          world.ask(world.groupOf(key).asked(), owner -> at(owner, key, shown.counter));
      List<String> before = shown.lists.putIfAbsent(key, elements);
      Demand.that(
          before == null || before.equals(elements),
          shown.name + " shows " + before + " in " + key + ", not " + elements);
      return elements;
    } catch (TooOld released) {
      Demand.that(shown.leaves, shown.name + " holds what it shows: " + released.getMessage());
      trace.reached("what a deleted snapshot has shown is released");
      return null;
    }
  }

  private void delete() {
    if (named.isEmpty()) return;
    NamedSnapshot shown = named.remove(chance.below(named.size()));
    shown.leaves = true;
    boolean deleted =
        world.ask(world.home().asked(), owner -> owner.snapshots().delete(shown.name));
    Demand.that(deleted, shown.name + " is there until it is deleted");
  }

  /// Excuses a release of held versions when their holder is gone.
  void excuse(TooOld released, GroupsWorld.Owner holder, long sinceMicros) {
    boolean lost = holder.isReplaced();
    if (!lost && world.fibers().micros() - sinceMicros < GroupsWorld.BOUNDS.micros()) {
      throw new AssertionError("what is held is there", released);
    }
    trace.reached("what was held by nobody any more is released");
  }

  /// Reads again at an address that a client has read at before.
  void lookAgain() {
    if (remembered.isEmpty()) return;
    PastView seen = chance.of(remembered);
    try {
      List<String> again =
          world.ask(world.groupOf(seen.key).asked(), owner -> at(owner, seen.key, seen.counter));
      Demand.that(again.equals(seen.elements), seen + " is seen again, not " + again);
      trace.reached("the past is seen again");
    } catch (TooOld released) {
      trace.reached("what nobody holds is released");
    } catch (IllegalArgumentException future) {
      throw new AssertionError("nobody forgets an address that was given: " + seen, future);
    }
  }

  private static List<String> at(GroupsWorld.Owner owner, String key, long counter) {
    return SeriesHandlers.elements(
        owner
            .store()
            .at(Key.of(GroupLists.ORDERED, key), counter)
            .get("", GroupLists.ANY, Pace.LONG));
  }

  /// Keeps what a client has seen, for a second look.
  void remember(long counter, String key, List<String> elements) {
    if (remembered.size() == REMEMBERED_MAX) remembered.removeFirst();
    remembered.add(new PastView(counter, key, elements));
  }

  /// Reads several stores at a log address that one of them has pinned.
  void snapshot() {
    var open = lists.history().begin(lists.name("snap"));
    GroupsWorld.Owner first = chance.of(world.groups()).asked();
    Pins.Pin pin = world.ask(first, owner -> owner.store().pinNow());
    try {
      for (int i = chance.between(1, 4); i > 0; i--) {
        String key = lists.anyKey();
        List<String> elements =
            world.ask(world.groupOf(key).asked(), owner -> at(owner, key, pin.counter()));
        open.read(key, elements);
        remember(pin.counter(), key, elements);
      }
    } catch (TooOld released) {
      excuse(released, Objects.requireNonNull(first), world.fibers().micros());
      return;
    }
    var _ =
        world.ask(
            first,
            _ -> {
              pin.close();
              return true;
            });
    open.committed();
    trace.reached("a snapshot is read");
  }
}
