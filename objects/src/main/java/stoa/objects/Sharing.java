package stoa.objects;

import java.util.Objects;
import java.util.function.UnaryOperator;
import stoa.objects.proxy.Proxied;
import stoa.objects.proxy.Proxies;
import stoa.spi.Facade;

/// What callers hold in place of shared objects: proxies, and facades before them.
@SuppressWarnings("exports") // Justification: for stoa.client, on the class path
public final class Sharing {
  private Sharing() {}

  /// The proxy behind a facade; anything else as it is.
  public static Object behind(Object shared) {
    return shared instanceof Facade facade ? facade.shared() : shared;
  }

  /// A shared object as it is seen through a lens: a proxy in place of a proxy, or a facade before
  /// what is to be used in place of each proxy behind it.
  public static <T> T through(T shared, UnaryOperator<Object> lens) {
    @SuppressWarnings("unchecked") // Justification: a facade answers one of its own class
    T seen = (T) (shared instanceof Facade facade ? facade.through(lens) : lens.apply(shared));
    return seen;
  }

  /// What a proxy, or the one behind a facade, stands for.
  ///
  /// @throws IllegalArgumentException when the object is neither
  public static Proxied proxied(Object shared) {
    Objects.requireNonNull(shared, "the shared object is null");
    Proxied proxied = Proxies.of(behind(shared));
    if (proxied == null) {
      throw new IllegalArgumentException(
          shared.getClass().getName() + " is no proxy of a shared object; get one from the store");
    }
    return proxied;
  }
}
