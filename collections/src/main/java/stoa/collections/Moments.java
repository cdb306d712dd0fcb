package stoa.collections;

import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LimitExceeded;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.TxOptions;
import stoa.spi.Host;

/// How a composed collection sees its objects, and makes several calls on them at one moment
/// (vCorfu, figure 6). Immutable.
///
/// Several calls on live objects run in a transaction; an iteration reads a snapshot. Objects
/// behind a lens, of a snapshot or of a transaction that the program holds, show one moment anyway.
final class Moments {
  private static final TxOptions REWRITING = TxOptions.STANDARD.withAttemptsMax(100);

  private final Stoa stoa;
  private final @Nullable UnaryOperator<Object> lens;

  private Moments(Stoa stoa, @Nullable UnaryOperator<Object> lens) {
    this.stoa = stoa;
    this.lens = lens;
  }

  static Moments live(Stoa stoa) {
    return new Moments(stoa, null);
  }

  static boolean isTransacting(Stoa stoa) {
    return stoa instanceof Host host && host.isTransacting();
  }

  Moments through(UnaryOperator<Object> next) {
    UnaryOperator<Object> before = lens;
    return new Moments(stoa, before == null ? next : shared -> next.apply(before.apply(shared)));
  }

  Stoa stoa() {
    return stoa;
  }

  /// Returns whether each call sees the present.
  boolean isLive() {
    return lens == null;
  }

  /// Returns an object of the collection through the lens.
  <T> T seen(T shared) {
    UnaryOperator<Object> through = lens;
    @SuppressWarnings("unchecked") // Justification: a lens answers a proxy of the same type
    T seen = through == null ? shared : (T) through.apply(shared);
    return seen;
  }

  /// Makes calls that change something, all or none.
  <R extends @Nullable Object> R write(Supplier<R> calls) {
    return isLive() ? stoa.<R, RuntimeException>transact(calls::get) : calls.get();
  }

  /// Makes calls that only read.
  <R extends @Nullable Object> R read(Supplier<R> calls) {
    if (!isLive() || isTransacting(stoa)) return calls.get();
    return stoa.<R, RuntimeException>transact(TxOptions.reading(), calls::get);
  }

  /// Changes all of a collection in one transaction.
  ///
  /// @param title names the collection in messages
  /// @param change returns whether it changed something
  static boolean rewrite(Stoa stoa, Supplier<String> title, Supplier<Boolean> change) {
    try {
      return stoa.<Boolean, RuntimeException>transact(REWRITING, change::get);
    } catch (Aborted overtaken) {
      throw new LimitExceeded(
          ("%s was changed by others during each of %d attempts to change all of it at once, and"
                  + " nothing was written; change one entry at a time, or keep others out meanwhile")
              .formatted(title.get(), REWRITING.attemptsMax()),
          overtaken);
    }
  }

  /// A collection of several objects that is read in pages.
  interface Composed extends Paged {
    /// Returns how it sees its objects.
    Moments moments();

    /// Returns the same collection through a lens.
    Composed through(UnaryOperator<Object> lens);
  }

  /// Returns pages of several objects, all as of one moment.
  static PageSource pages(Composed composed) {
    return new OfMoment(composed);
  }

  private static final class OfMoment implements PageSource {
    private final Composed composed;

    // While this is reachable, it keeps the store from trimming what later pages read.
    private @Nullable Snapshot snapshot;

    private OfMoment(Composed composed) {
      this.composed = composed;
    }

    @Override
    public Page read(@Nullable Object from, int max) {
      Moments moments = composed.moments();
      if (!moments.isLive() || isTransacting(moments.stoa())) return page(composed, from, max);
      Snapshot held = snapshot;
      if (held == null) {
        held = moments.stoa().snapshot();
        snapshot = held;
      }
      Page page = page(composed.through(held::on), from, max);
      if (page.next() == null) held.close();
      return page;
    }

    private static Page page(Composed composed, @Nullable Object from, int max) {
      return Objects.requireNonNull(composed.page(Paged.ANY, from, max));
    }
  }
}
