package stoa.objects;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Gone;
import stoa.Placement;
import stoa.Unavailable;
import stoa.base.CallId;
import stoa.base.Check;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedObject;
import stoa.front.PlacedState;
import stoa.front.PlacedStore;
import stoa.front.SharedCall;
import stoa.front.SharedPlacedObjects;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Target;

/// The durable side of the client-placed objects of a store in this process. Thread-safe.
final class LocalPlacedStore extends SharedPlacedObjects implements PlacedStore {
  private static final StoreTransaction.Bounds BOUNDS =
      new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 60_000_000, 1 << 20, 1L << 30);

  private static final int ATTEMPTS_MAX = 1_000;

  private final LocalService stoa;
  private final long freeNanos;
  private final Map<String, TreeChildren> trees = new ConcurrentHashMap<>();

  /// @param freeNanos the time from which on no other process has the objects
  LocalPlacedStore(LocalService stoa, long freeNanos) {
    super(stoa.stoa());
    this.stoa = stoa;
    this.freeNanos = freeNanos;
  }

  @Override
  public long epoch() {
    return stoa.core().epoch();
  }

  @Override
  public boolean mayHaveOthers() {
    return stoa.isServed() && epoch() > 1;
  }

  @Override
  public boolean hasSuccessors() {
    return stoa.isServed() && stoa.core().isReplicated();
  }

  @Override
  public Collection<String> children(String domain) {
    return tree(domain).all();
  }

  @Override
  public void keepChildren(String domain, Collection<String> nodes) {
    tree(domain).replace(nodes);
  }

  private TreeChildren tree(String domain) {
    return trees.computeIfAbsent(domain, name -> new TreeChildren(stoa.core(), name));
  }

  @Override
  public @Nullable PlacedObject find(StreamId stream) {
    Key key = stoa.changes().logged().keyOf(stream);
    if (key == null) return null;
    return stoa.placed(stoa.catalog().typeNamed(key.space()), key, new Existence.Undeleted(null));
  }

  @Override
  public Timing timing() {
    return stoa.timing();
  }

  @Override
  public Clock clock() {
    return stoa.clock();
  }

  @Override
  public long freeNanos() {
    return freeNanos;
  }

  @Override
  public Stored load(PlacedObject object) {
    Store store = stoa.core();
    var target = at(object);
    long generation = store.generation(target.key());
    if (generation == 0) return deleted(object);
    var existence = new Existence.Generation(generation);
    var answer =
        store.get(target, new ObjectHandler.StateQuestion(), Terms.expecting(existence)).answer();
    if (answer instanceof ObjectAnswer.Travelling(_, byte[] bytes)) {
      return new Stored(generation, PlacedState.decode(bytes, 0));
    }
    throw new IllegalStateException("the state of " + object + " is " + answer);
  }

  @Override
  public Stored deleted(PlacedObject object) {
    // Not after its deletion: a note about a call may come after that.
    return new Stored(stoa.core().tail(at(object).key()) + 1, null);
  }

  @Override
  public boolean isLent(PlacedObject object) {
    Store store = stoa.core();
    var target = at(object);
    long generation = store.generation(target.key());
    if (generation == 0) return false;
    var existence = new Existence.Generation(generation);
    var answer =
        store.get(target, new ObjectHandler.LentQuestion(), Terms.expecting(existence)).answer();
    return answer instanceof ObjectAnswer.Shared(Object lent, _) && Boolean.TRUE.equals(lent);
  }

  @Override
  public void lend(PlacedObject object) {
    SharedCall live = live(object);
    long generation = stoa.core().generation(at(live).key());
    byte[] state = load(object).bytes();
    if (generation == 0 || state.length == 0) {
      throw new IllegalArgumentException(
          object
              + " does not exist, and cannot be lent to clients; create it, or call a method that"
              + " changes it, before");
    }
    var _ = PlacedObject.checked(object, state, stoa.callBytesMax());
    side(live, generation, true);
  }

  @Override
  public void takeBack(PlacedObject object) {
    SharedCall live = live(object);
    long generation = stoa.core().generation(at(live).key());
    if (generation == 0) return; // it was deleted
    try {
      side(live, generation, false);
    } catch (Gone deleted) {
      // There is nothing to recall.
    }
  }

  private void side(SharedCall live, long generation, boolean lent) {
    var existence = new Existence.Generation(generation);
    var _ =
        stoa.core()
            .put(at(live), Put.of(PlacedState.side(lent)), Terms.expecting(existence))
            .answer();
  }

  @Override
  public long delete(PlacedObject object, @Nullable CallId id) {
    SharedCall live = live(object);
    return stoa.core().delete(at(live), Terms.expecting(live.ending()).of(id));
  }

  @Override
  public void persist(List<Change> changes) {
    if (changes.isEmpty()) {
      stoa.core().checkUsable();
      return;
    }
    for (int attempt = 1; ; attempt++) {
      try {
        boolean isHinted = attempt == 1;
        put(changes.stream().map(each -> write(each, isHinted)).filter(Objects::nonNull).toList());
        return;
      } catch (Gone | Aborted meanwhile) {
        // Someone has just deleted it, or a call without effect has come between.
        if (attempt < ATTEMPTS_MAX) continue;
        throw new Unavailable(
            "states could not be written, since calls always came between", meanwhile);
      }
    }
  }

  private record StateWrite(Change change, Target target, Existence existence) {
    private boolean begins() {
      return existence instanceof Existence.Any;
    }
  }

  /// Returns the place for a state; null when the object's life has ended. Callers delete only a
  /// lent object while clients have it: the clients' changes since then go with it, and the
  /// deletion starts at the server. All states of other objects are durable before their deletion.
  private @Nullable StateWrite write(Change change, boolean isHinted) {
    Store store = stoa.core();
    var target = at(change.object());
    long life = change.life();
    // A hint of another life may be outdated.
    boolean goesOn = isHinted && target.generationHint() == life;
    long generation = goesOn ? life : store.generation(target.key());
    if (generation == life) return new StateWrite(change, target, new Existence.Generation(life));
    boolean isLent = placement(change.object()) == Placement.SERVER;
    if (isLent) return null;
    boolean ended = generation != 0 || store.position(target.key()) >= life;
    Check.that(!ended, "%s has come in its life %s, which has ended", change.object(), life);
    return new StateWrite(change, target, new Existence.Any(null));
  }

  private void put(List<StateWrite> all) {
    Store store = stoa.core();
    if (all.size() == 1) {
      var only = all.getFirst();
      var _ =
          store
              .put(only.target, Put.of(only.change.state().put()), Terms.expecting(only.existence))
              .answer();
    } else if (!all.isEmpty()) {
      try (var transaction = store.begin(BOUNDS)) {
        for (var each : all) {
          var _ =
              transaction.put(each.target, each.change.state().put(), each.existence, Pace.LONG);
        }
        var _ = transaction.commit();
      }
    }
    for (var each : all) {
      if (each.begins()) check(each);
    }
  }

  /// The tree has assigned its number before.
  private void check(StateWrite begun) {
    long generation = stoa.core().generation(begun.target.key());
    Check.that(
        generation == begun.change.life(),
        "%s has begun at %s, and not at %s",
        begun.change.object(),
        generation,
        begun.change.life());
  }

  private static Target at(PlacedObject object) {
    return at(live(object));
  }

  private static Target at(SharedCall live) {
    return ((LocalObject) live.target()).at();
  }
}
