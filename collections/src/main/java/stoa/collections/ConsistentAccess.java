package stoa.collections;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Call1;
import stoa.LimitExceeded;
import stoa.Ref;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.TxOptions;
import stoa.spi.Host;

/// The access of a composed collection to its objects: several calls on them see one moment
/// (vCorfu, figure 6). Immutable.
///
/// Several calls on live objects run in a transaction; so does an iteration, whose later pages read
/// the moment of the first. The program may hold a snapshot or a transaction; objects behind its
/// lens show one moment anyway. If the caller has copies of the objects, this repeats the calls on
/// the copies until all of them show one moment; an iteration over copies reads all of them at its
/// beginning.
final class ConsistentAccess {
  private static final int COPIES_MAX = 4_096;

  private static final TxOptions REWRITING = TxOptions.STANDARD.withAttemptsMax(100);

  private final Stoa stoa;
  private final @Nullable UnaryOperator<Object> lens;

  // The last used copies, which stay at the caller while they are here; null when it has none.
  private final @Nullable Map<Ref<?>, Object> copies;

  private ConsistentAccess(
      Stoa stoa, @Nullable UnaryOperator<Object> lens, @Nullable Map<Ref<?>, Object> copies) {
    this.stoa = stoa;
    this.lens = lens;
    this.copies = copies;
  }

  static ConsistentAccess live(Stoa stoa) {
    return new ConsistentAccess(stoa, null, null);
  }

  /// Returns the same through local or cached views.
  ///
  /// @param view returns the view of an object
  ConsistentAccess copied(UnaryOperator<Object> view) {
    var last =
        new LinkedHashMap<Ref<?>, Object>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<Ref<?>, Object> eldest) {
            return size() > COPIES_MAX;
          }
        };
    return new ConsistentAccess(stoa, view, last);
  }

  static boolean isTransacting(Stoa stoa) {
    return stoa instanceof Host host && host.isTransacting();
  }

  ConsistentAccess through(UnaryOperator<Object> next) {
    UnaryOperator<Object> before = lens;
    return new ConsistentAccess(
        stoa,
        before == null || copies != null ? next : shared -> next.apply(before.apply(shared)),
        null);
  }

  Stoa stoa() {
    return stoa;
  }

  /// Returns whether each call sees the present.
  boolean isLive() {
    return lens == null || copies != null;
  }

  /// Returns whether calls of this thread on the live objects take part in a transaction.
  boolean isTransacting() {
    return isLive() && isTransacting(stoa);
  }

  /// Returns an object of the collection through the lens.
  <T> T seen(T shared) {
    UnaryOperator<Object> through = lens;
    Map<Ref<?>, Object> known = copies;
    if (known != null && through != null) {
      Object found;
      synchronized (known) {
        found = known.computeIfAbsent(stoa.ref(shared), _ -> through.apply(shared));
      }
      @SuppressWarnings("unchecked") // Justification: as below
      T copy = (T) found;
      return copy;
    }
    @SuppressWarnings("unchecked") // Justification: a lens answers a proxy of the same type
    T seen = through == null ? shared : (T) through.apply(shared);
    return seen;
  }

  /// Makes the same call on several objects of the collection, in a transaction at servers on many
  /// of them at once; returns the answers in the order of the objects.
  ///
  /// @param seen objects through the lens
  <T, R> List<R> all(List<T> seen, Call1<T, R> call) {
    @SuppressWarnings("unchecked") // Justification: the call's type says R
    List<R> answers =
        (List<R>) all(seen.stream().map(one -> new Host.OneCall<>(one, call)).toList());
    return answers;
  }

  /// Makes calls on several objects of the collection like the other method.
  List<@Nullable Object> all(List<? extends Host.OneCall<?>> calls) {
    return ((Host) stoa).callAll(calls);
  }

  /// Deletes objects of the collection, in the transaction of the caller.
  void delete(List<?> objects) {
    ((Host) stoa).deleteAll(objects);
  }

  /// Makes calls that change something, all or none.
  <R extends @Nullable Object> R write(Supplier<R> calls) {
    return isLive() ? stoa.<R, RuntimeException>transact(calls::get) : calls.get();
  }

  /// Makes calls that only read.
  <R extends @Nullable Object> R read(Supplier<R> calls) {
    if (!isLive() || isTransacting(stoa)) return calls.get();
    if (copies != null) return ((Host) stoa).atOneMoment(calls);
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
    /// Returns its access to its objects.
    ConsistentAccess access();

    /// Returns the same collection through a lens.
    Composed through(UnaryOperator<Object> lens);
  }

  /// Returns pages of several objects, all as of one moment.
  static PageSource pages(Composed composed) {
    return new OfMoment(composed);
  }

  /// Reads each page in a transaction, the later ones as of the moment of the first.
  private static final class OfMoment implements PageSource {
    private final Composed composed;

    // The moment of the first page, once another one follows. While this is reachable, it keeps the
    // store from trimming what later pages read.
    private @Nullable Snapshot snapshot;

    private OfMoment(Composed composed) {
      this.composed = composed;
    }

    @Override
    public Page read(@Nullable Object from, int max) {
      ConsistentAccess access = composed.access();
      if (!access.isLive() || isTransacting(access.stoa())) return page(composed, from, max);
      if (access.copies != null) return access.read(() -> all(composed, from, max));
      Snapshot held = snapshot;
      Page page = held == null ? first(from, max) : later(held, from, max);
      if (page.next() == null && held != null) held.close();
      return page;
    }

    private Page first(@Nullable Object from, int max) {
      return composed
          .access()
          .read(() -> {
            Page page = page(composed, from, max);
            // Until its end, the transaction keeps its moment readable.
            if (page.next() != null) snapshot = host().snapshotOfTransaction();
            return page;
          });
    }

    private Page later(Snapshot held, @Nullable Object from, int max) {
      return host()
          .<Page, RuntimeException>transact(
              TxOptions.readingAt(held.address()), () -> page(composed, from, max));
    }

    private Host host() {
      return (Host) composed.access().stoa();
    }

    private static Page all(Composed composed, @Nullable Object from, int max) {
      var items = new ArrayList<Object>();
      Object next = from;
      do {
        Page page = page(composed, next, max);
        items.addAll(page.items());
        next = page.next();
      } while (next != null);
      return new Page(Paged.ANY, items, null);
    }

    private static Page page(Composed composed, @Nullable Object from, int max) {
      return Objects.requireNonNull(composed.page(Paged.ANY, from, max));
    }
  }
}
