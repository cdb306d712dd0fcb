package stoa.objects;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Limits;
import stoa.Placement;
import stoa.Stoa;
import stoa.objects.proxy.Proxies;
import stoa.objects.types.SharedMethod;
import stoa.store.Existence;
import stoa.store.Store;
import stoa.store.Transaction;

/// The durable side of client-placed objects: the door through which `stoa.migration` uses a store
/// in this process. Thread-safe.
@SuppressWarnings("exports") // Justification: for stoa.migration, which sees the types
public final class PlacedStore implements PlacedObjects {
  /// A state that an object is to have.
  public record Change(PlacedObject object, PlacedState state) {}

  private static final Transaction.Bounds BOUNDS =
      new Transaction.Bounds(false, 60_000_000, 1 << 16, 1L << 30);

  private final EmbeddedStoa stoa;
  private final long freeNanos;

  /// @param freeNanos the clock when nobody else had the objects any more
  PlacedStore(EmbeddedStoa stoa, long freeNanos) {
    this.stoa = stoa;
    this.freeNanos = freeNanos;
  }

  /// Where the calls on the objects of a domain go, of a store that is open in this process.
  ///
  /// @throws UnsupportedOperationException when stoa-migration is not on the class path
  public static Placing placing(Stoa stoa, String domain) {
    if (stoa instanceof EmbeddedStoa embedded) return embedded.placing(domain);
    throw new IllegalArgumentException(
        stoa + " is not a store in this process; open memory: or file:DIRECTORY");
  }

  @Override
  public Stoa stoa() {
    return stoa;
  }

  @Override
  public Limits limits() {
    return stoa.limits();
  }

  @Override
  public PlacedObject object(Object shared) {
    return object(stoa, shared);
  }

  static PlacedObject object(EmbeddedStoa stoa, Object shared) {
    LiveInvoker live = stoa.own(shared);
    if (!live.type().shared().isPlaced()) {
      throw new IllegalArgumentException(
          live.target().key() + " is not placed at clients; say so in its @Shared");
    }
    return live.placed();
  }

  @Override
  public <T> T through(T shared, Placing placing) {
    return Sharing.through(
        shared,
        proxy -> {
          LiveInvoker live = stoa.own(proxy);
          var _ = object(proxy);
          return Proxies.redirect(proxy, new PlacedInvoker(live, placing));
        });
  }

  private static LiveInvoker live(PlacedObject object) {
    return ((LivePlaced) object).live();
  }

  @Override
  public boolean isAuto(PlacedObject object) {
    return live(object).type().shared().placement() == Placement.AUTO;
  }

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    return live(object).invokeHere(method, arguments);
  }

  /// A number above that of every opening of the store before.
  public long epoch() {
    return stoa.core().epoch();
  }

  /// Whether clients of another process may believe that this store is with them yet: it is served,
  /// and was opened before.
  public boolean mayHaveOthers() {
    return stoa.isServed() && epoch() > 1;
  }

  /// The clock, in nanoseconds, when nobody else had the objects any more.
  public long freeNanos() {
    return freeNanos;
  }

  /// What the store has of an object; null when it does not exist.
  ///
  /// @throws stoa.Unavailable when the store cannot be asked
  public @Nullable PlacedState load(PlacedObject object) {
    Store store = stoa.core();
    var target = live(object).target();
    long generation = store.generation(target.key());
    if (generation == 0) return null;
    var existence = new Existence.Generation(generation);
    var answer = store.get(target, new ObjectHandler.StateQuestion(), existence, false).answer();
    if (answer instanceof ObjectAnswer.Travelling(_, byte[] bytes)) {
      return PlacedState.decode(bytes, 0);
    }
    throw new IllegalStateException("the state of " + object + " is " + answer);
  }

  /// Makes states the next versions of their objects, together or not at all; durable when this
  /// returns.
  ///
  /// @param changes may be empty: then the store is only asked whether it is still the one
  /// @throws stoa.Unavailable when the store takes nothing any more
  public void persist(List<Change> changes) {
    Store store = stoa.core();
    if (changes.size() == 1) {
      var only = changes.getFirst();
      var target = live(only.object()).target();
      var existence = new Existence.Undeleted(null);
      var _ = store.put(target, only.state().put(), existence, false).answer();
      return;
    }
    if (changes.isEmpty()) {
      store.checkUsable();
      return;
    }
    try (var transaction = store.begin(BOUNDS)) {
      for (var change : changes) {
        var target = live(change.object()).target();
        var existence = new Existence.Undeleted(null);
        var _ = transaction.put(target, change.state().put(), existence, false);
      }
      var _ = transaction.commit();
    }
  }
}
