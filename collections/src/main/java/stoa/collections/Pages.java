package stoa.collections;

import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;

/// What all pages of a source hold, one item after the other. Used by one thread at a time.
final class Pages {
  /*
   * Whoever begins to iterate may want a few entries only, and they travel in vain that are not
   * looked at; whoever goes on gets more at a time.
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

  /// @param from where to begin, null for the beginning
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

  /// A page, of fewer entries when these are too large to travel together.
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
