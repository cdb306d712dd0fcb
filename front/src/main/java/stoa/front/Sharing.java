package stoa.front;

import java.time.Duration;
import java.util.Objects;
import java.util.function.UnaryOperator;
import stoa.Ref;
import stoa.TxOptions;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedType;
import stoa.spi.Facade;

/// Operations on the caller's side of shared objects: proxies, and facades over them.
public final class Sharing {
  private Sharing() {}

  /// Returns the proxy of a facade, or the argument itself when it is no facade.
  public static Object behind(Object shared) {
    return shared instanceof Facade facade ? facade.shared() : shared;
  }

  /// Returns a shared object with every proxy replaced: another proxy for a proxy, or a facade over
  /// the replaced proxies.
  public static <T> T through(T shared, UnaryOperator<Object> lens) {
    @SuppressWarnings("unchecked") // Justification: a facade returns one of its own class
    T seen = (T) (shared instanceof Facade facade ? facade.through(lens) : lens.apply(shared));
    return seen;
  }

  /// Refuses to read the history of an object that is composed of several.
  public static void checkHistory(Object shared) {
    if (shared instanceof Facade facade && !facade.isSingle()) {
      throw new UnsupportedOperationException(
          facade.title()
              + " is composed of several objects, which have no single history; read it in a"
              + " snapshot");
    }
  }

  /// Refuses a nested transaction that reads at another place than the outer one.
  public static void checkNested(TxOptions options) {
    if (options.at() != null) {
      throw new IllegalStateException(
          "a nested transaction reads what the one around it reads, and cannot read at "
              + options.at());
    }
  }

  /// Refuses a time limit that no call can keep.
  public static void checkTime(Duration timeMax) {
    Objects.requireNonNull(timeMax, "the time is null");
    if (!timeMax.isPositive()) {
      throw new IllegalArgumentException("no call ends within " + timeMax + "; give it more time");
    }
  }

  /// Refuses a reference to an object whose type is not the given one.
  public static void checkType(Ref<?> ref, SharedType known) {
    if (known.name().equals(ref.type())) return;
    throw new IllegalArgumentException(
        ref + " is not of type " + known.name() + ", the type of " + known.face().getName());
  }

  /// Throws a checked exception as an unchecked one, without wrapping it.
  @SuppressWarnings("unchecked") // Justification: the cast exists for the compiler only
  public static <E extends Throwable> RuntimeException sneaky(Throwable thrown) throws E {
    throw (E) thrown;
  }

  /// Returns the proxy's content, of a proxy or of a facade's proxy.
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
