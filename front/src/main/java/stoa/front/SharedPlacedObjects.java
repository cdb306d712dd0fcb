package stoa.front;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Limits;
import stoa.Placement;
import stoa.Reads;
import stoa.Stoa;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;

/// The objects of a store that are at clients, or may be. Thread-safe.
public class SharedPlacedObjects implements PlacedObjects {
  private final SharedStoa stoa;

  /// Creates the view of a store's objects.
  public SharedPlacedObjects(SharedStoa stoa) {
    this.stoa = stoa;
  }

  @Override
  public Stoa stoa() {
    return stoa;
  }

  @Override
  public Limits limits() {
    return stoa.service().limits();
  }

  @Override
  public PlacedObject object(Object shared) {
    return stoa.placed(shared);
  }

  @Override
  public Placement placement(PlacedObject object) {
    return live(object).shared().placement();
  }

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    return live(object).invokeThere(method, arguments);
  }

  @Override
  public <T> T through(
      T shared, Placing placing, Reads reads, Function<PlacedObject, Object> kept) {
    return Sharing.through(
        shared,
        proxy -> {
          SharedCall live = stoa.own(proxy);
          Object own = kept.apply(object(proxy));
          return Proxies.redirect(proxy, new TreeCall(live, placing, reads, own));
        });
  }

  /// Returns the ordinary route to an object.
  protected static SharedCall live(PlacedObject object) {
    return ((SharedPlaced) object).live();
  }
}
