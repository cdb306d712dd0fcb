package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.spi.CallContext;

/// Pages of one object: of its live state while that has the version of the first page, and of its
/// history once it has changed.
///
/// Inside a transaction, which reads at one moment anyway, and inside a method of a shared object,
/// which cannot read history, all pages are of the live state.
final class ObjectPages implements PageSource {
  private final Stoa stoa;
  private Paged source;
  private long version = Paged.ANY;

  ObjectPages(Stoa stoa, Paged source) {
    this.stoa = stoa;
    this.source = source;
  }

  @Override
  public Page read(@Nullable Object from, int max) {
    Page page = source.page(version, from, max);
    if (page == null && (CallContext.CURRENT.isBound() || Moments.isTransacting(stoa))) {
      version = Paged.ANY;
      page = source.page(version, from, max);
    } else if (page == null) {
      source = stoa.history(source).at(version);
      page = source.page(version, from, max);
    }
    if (page == null) throw new IllegalStateException("a version is itself, unlike " + version);
    if (version == Paged.ANY) version = page.version();
    return page;
  }
}
