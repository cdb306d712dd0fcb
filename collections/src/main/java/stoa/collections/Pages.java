package stoa.collections;

import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;

/// All items of a source's pages, one after the other. One thread at a time uses it.
final class Pages {
  /*
   * The first page is small, because an iteration may need a few entries only; later pages are
   * larger.
   */
  private static final int ENTRIES_FIRST = 32;
  private static final int ENTRIES_MAX = 256;
  private static final int GROWTH = 2;

  private final PageSource source;
  private List<Object> items = List.of();
  private int at;
  private @Nullable Object next;
  private boolean last;
  private int max = ENTRIES_FIRST;
  private int most = ENTRIES_MAX;

  /// Creates the pages.
  ///
  /// @param from the beginning, null for that of the source
  Pages(PageSource source, @Nullable Object from) {
    this.source = source;
    this.next = from;
  }

  boolean hasNext() {
    while (at == items.size() && !last) {
      Page page = fetch();
      items = page.items();
      at = 0;
      next = page.next();
      last = next == null;
    }
    return at < items.size();
  }

  Object next() {
    if (!hasNext()) throw new NoSuchElementException();
    return items.get(at++);
  }

  /// Fetches a page, with fewer entries if they are too large for one call.
  private Page fetch() {
    while (true) {
      try {
        Page page = source.read(next, max);
        max = Math.min(most, max * GROWTH);
        return page;
      } catch (LimitExceeded tooLarge) {
        if (max == 1) throw tooLarge;
        max = Math.max(1, max / 8);
        most = max;
      }
    }
  }
}
