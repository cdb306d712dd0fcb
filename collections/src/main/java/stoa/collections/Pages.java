package stoa.collections;

import java.util.ArrayList;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.Stoa;
import stoa.spi.CallContext;

/// Reads all pages of one version, one after the other. Used by one thread at a time.
///
/// The pages come from the live object while it still has the version of the first one, and from
/// its history once it has changed.
final class Pages {
  private static final int ENTRIES_MAX = 256;

  private final Stoa stoa;
  private Paged source;
  private int max = ENTRIES_MAX;
  private long version = Paged.ANY;
  private @Nullable Page page;
  private int at;

  /// @param from where to begin: null for the beginning
  Pages(Stoa stoa, Paged source, @Nullable Object from) {
    this.stoa = stoa;
    this.source = source;
    this.page = new Page(Paged.ANY, new ArrayList<>(), from);
    this.begun = false;
  }

  private boolean begun;

  boolean hasNext() {
    while (true) {
      Page current = Objects.requireNonNull(page);
      if (at < current.items().size()) return true;
      if (begun && current.next() == null) return false;
      page = fetch(current.next());
      if (!begun) version = Objects.requireNonNull(page).version();
      begun = true;
      at = 0;
    }
  }

  Object next() {
    if (!hasNext()) throw new NoSuchElementException();
    return Objects.requireNonNull(page).items().get(at++);
  }

  private Page fetch(@Nullable Object from) {
    while (true) {
      try {
        Page read = source.page(version, from, max);
        if (read != null) return read;
        if (CallContext.CURRENT.isBound()) {
          version = Paged.ANY; // a method of a shared object cannot read history
        } else {
          source = stoa.history(source).at(version);
        }
      } catch (LimitExceeded tooLarge) {
        if (max == 1) throw tooLarge;
        max = Math.max(1, max / 8);
      }
    }
  }
}
