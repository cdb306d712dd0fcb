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

/// What callers hold in place of shared objects: proxies, and facades before them.
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

  /// Refuses to read the history of what is composed of several objects.
  public static void checkHistory(Object shared) {
    if (shared instanceof Facade facade && !facade.isSingle()) {
      throw new UnsupportedOperationException(
          facade.title()
              + " is composed of several objects, which have no single history; read it in a"
              + " snapshot");
    }
  }

  /// Refuses a nested transaction that reads elsewhere than the one around it.
  public static void checkNested(TxOptions options) {
    if (options.at() != null) {
      throw new IllegalStateException(
          "a nested transaction reads what the one around it reads, and cannot read at "
              + options.at());
    }
  }

  /// Refuses a time in which no call ends.
  public static void checkTime(Duration timeMax) {
    Objects.requireNonNull(timeMax, "the time is null");
    if (!timeMax.isPositive()) {
      throw new IllegalArgumentException("no call ends within " + timeMax + "; give it more time");
    }
  }

  /// Refuses a reference to an object of another type than that of a class.
  public static void checkType(Ref<?> ref, SharedType known) {
    if (known.name().equals(ref.type())) return;
    throw new IllegalArgumentException(
        ref + " is not of type " + known.name() + ", the type of " + known.face().getName());
  }

  /// Throws whatever it is given, as what the compiler lets through.
  @SuppressWarnings("unchecked") // Justification: the cast exists for the compiler only
  public static <E extends Throwable> RuntimeException sneaky(Throwable thrown) throws E {
    throw (E) thrown;
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
