package stoa.indexes;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.LiveQuery;
import stoa.StoaException;
import stoa.TooOld;
import stoa.front.ChangeSet;
import stoa.front.Service;

/// A query that is asked again after each change that may change its answer. One thread reads; any
/// closes.
///
/// @param <T> the class of the objects
final class Watch<T> implements LiveQuery<T> {
  /*
   * A change shows in the log's tail when its call has ended, and a call ends behind its steps on
   * the indexes. So an answer that is asked for after the change was read has the change.
   */

  /// Asks the query.
  ///
  /// @param <T> the class of the objects
  interface Asking<T> {
    /// Returns the objects in their order, by what tells them apart.
    Map<Object, T> ask();
  }

  private final Asking<T> asking;
  private final Supplier<Service.Tail<ChangeSet>> following;
  private final AtomicBoolean closed = new AtomicBoolean();
  // Null while none is open; the next wait then opens one.
  private final AtomicReference<Service.@Nullable Tail<ChangeSet>> tail;
  // The last answer; null before the first.
  private @Nullable Map<Object, T> last;
  // Whether a change was read that the last answer may lack.
  private boolean stale = true;

  /// @param following follows the changes from now on that may change the answer
  Watch(Asking<T> asking, Supplier<Service.Tail<ChangeSet>> following) {
    this.asking = asking;
    this.following = following;
    this.tail = new AtomicReference<>(following.get());
  }

  @Override
  public Answer<T> next() throws InterruptedException {
    while (true) {
      Answer<T> found = next(Long.MAX_VALUE);
      if (found != null) return found;
    }
  }

  @Override
  public Optional<Answer<T>> next(Duration timeMax) throws InterruptedException {
    return Optional.ofNullable(next(TimeUnit.NANOSECONDS.convert(timeMax)));
  }

  private @Nullable Answer<T> next(long nanosMax) throws InterruptedException {
    long began = System.nanoTime();
    long left = nanosMax;
    do {
      checkOpen();
      if (stale) {
        Answer<T> changed = changed();
        if (changed != null) return changed;
      }
      stale = hasChanged(Math.max(0, left));
      left = nanosMax - (System.nanoTime() - began);
    } while (stale && left > 0);
    return stale ? changed() : null;
  }

  private void checkOpen() {
    if (closed.get()) throw new Closed("the live query is closed");
  }

  /// Returns whether a change may have come in time. Reads all that are there.
  private boolean hasChanged(long nanosMax) throws InterruptedException {
    Service.Tail<ChangeSet> open = tail.get();
    if (open == null) {
      begin();
      return true;
    }
    try {
      if (open.next(nanosMax) == null) {
        checkOpen();
        return false;
      }
      while (open.poll() != null) {
        // one answer for all of them
      }
    } catch (TooOld passedOver) {
      end();
    } catch (StoaException failed) {
      end();
      stale = true;
      throw failed;
    }
    return true;
  }

  /// Follows the changes anew. The next answer has what was missed.
  private void begin() {
    tail.set(following.get());
    if (closed.get()) end();
    checkOpen();
  }

  private void end() {
    Service.Tail<ChangeSet> open = tail.getAndSet(null);
    if (open != null) open.close();
  }

  /// Asks, and returns the answer if it is another one.
  private @Nullable Answer<T> changed() {
    Map<Object, T> now = asking.ask();
    stale = false;
    Map<Object, T> before = last;
    last = now;
    if (before != null && List.copyOf(before.keySet()).equals(List.copyOf(now.keySet()))) {
      return null;
    }
    Map<Object, T> known = before == null ? Map.of() : before;
    return new Answer<>(List.copyOf(now.values()), beyond(now, known), beyond(known, now));
  }

  private static <T> List<T> beyond(Map<Object, T> some, Map<Object, T> others) {
    var rest = new LinkedHashMap<>(some);
    rest.keySet().removeAll(others.keySet());
    return List.copyOf(rest.values());
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) end();
  }
}
