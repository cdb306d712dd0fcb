package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.spi.CallContext;
import stoa.spi.Host;

/// Pages of one object: of its live state while that has the version of the first page, and of a
/// snapshot after a change.
///
/// Inside a transaction, which reads as of one moment anyway, and inside a method of a shared
/// object, which cannot read the past, all pages show the live state. One reader uses it.
final class ObjectPages implements PageSource {
  /*
   * (1) A reader of one page takes no snapshot.
   * (2) Of several pages, the reader gets the first when a snapshot of its version exists. So no
   *     later page needs a released version.
   */
  private final Stoa stoa;
  private final Paged live;

  // The version of the first page.
  private long version = Paged.ANY;

  // While this is reachable and not at its end, it keeps the store from trimming what later pages
  // read.
  private @Nullable Snapshot snapshot;

  private boolean changed;

  ObjectPages(Stoa stoa, Paged live) {
    this.stoa = stoa;
    this.live = live;
  }

  @Override
  public Page read(@Nullable Object from, int max) {
    if (CallContext.CURRENT.isBound() || ConsistentAccess.isTransacting(stoa)) {
      return sound(live.page(Paged.ANY, from, max));
    }
    Page page = version == Paged.ANY ? first(from, max) : later(from, max);
    version = page.version();
    Snapshot held = snapshot;
    if (page.next() == null && held != null) held.close();
    return page;
  }

  private Page first(@Nullable Object from, int max) {
    Page page = sound(live.page(Paged.ANY, from, max));
    if (page.next() == null || !((Host) stoa).isLive(live)) return page;
    Snapshot held = stoa.snapshot();
    Page then = sound(held.on(live).page(Paged.ANY, from, max));
    if (then.version() < page.version()) {
      // The object is at its clients, where it is newer than in the store.
      held.close();
      return page;
    }
    snapshot = held;
    return then;
  }

  private Page later(@Nullable Object from, int max) {
    Page page = changed ? null : live.page(version, from, max);
    if (page != null) return page;
    changed = true;
    Snapshot held = snapshot;
    Paged then = held == null ? stoa.history(live).at(version) : held.on(live);
    return sound(then.page(version, from, max));
  }

  private Page sound(@Nullable Page page) {
    if (page == null) throw new IllegalStateException("a version is itself, unlike " + version);
    return page;
  }
}
