package stoa.objects;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.Unavailable;
import stoa.base.Existence;
import stoa.base.TraceParent;
import stoa.front.Service;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;
import stoa.store.running.Target;
import stoa.store.watching.WatchRegistration;

/// Sends the events of one key to the listeners of this process, and acknowledges to the key the
/// events that they have handled.
///
/// Thread-safe. Only [#add] may block.
final class KeyFeed {
  /*
   * The state of the key alone determines what the feed sends, whatever the fate of earlier sends:
   * a change of the key only means that there may be an event. The feed sends a listener the events
   * after its place `sent`, up to WINDOW events ahead of the handled ones. One question is in
   * progress at a time, for all listeners with room, and one acknowledgement, for all that have
   * handled events.
   *
   * Acknowledgements wait for ACKNOWLEDGED_EVENTS or for the next tick: a repeated event, for the
   * lack of one, has the same number.
   *
   * Invariants, for each place:
   * (1) acknowledged <= heard <= sent, and sent - heard <= WINDOW.
   * (2) Its sink has received the events after those handled before, up to sent, in order, each
   *     once.
   *
   * The feed calls no sink, and asks the store nothing, under the lock: either may call back.
   */
  private static final int WINDOW = 256;
  private static final int SEND_BYTES = 1 << 20;
  private static final int ACKNOWLEDGED_EVENTS = 64;

  private static final class Place {
    private final Service.Sink sink;
    private long sent;
    private long heard;
    private long acknowledged;
    private boolean over;

    /// @param before the previous place of the same listener; null for a new listener
    private Place(Service.Sink sink, @Nullable Place before) {
      this.sink = sink;
      if (before == null) return;
      sent = before.heard;
      heard = before.heard;
      acknowledged = before.acknowledged;
    }

    private boolean hasRoom() {
      return !over && sent - heard < WINDOW;
    }
  }

  private final KeyValues values;
  private final Target target;
  private final Executor executor;
  private final ReentrantLock lock = new ReentrantLock();

  private final Map<ListenerId, Place> places = new LinkedHashMap<>();
  private @Nullable WatchRegistration watch;
  private boolean asking;
  private boolean again;
  private boolean acknowledging;

  /// @param executor runs the work of threads that must not ask the store
  KeyFeed(KeyValues values, Target target, Executor executor) {
    this.values = values;
    this.target = target;
    this.executor = executor;
  }

  /// Begins to send the events of its key to a listener. The feed repeats events that it has sent
  /// before.
  void add(ListenerId listening, Service.Sink sink) {
    lock.lock();
    try {
      // The feed does not repeat handled events that it has not acknowledged yet: over connections
      // that break before the next tick it would repeat nothing else.
      places.put(listening, new Place(sink, places.get(listening)));
      if (watch == null) {
        watch = values.core().watch(target.key(), _ -> executor.execute(this::ask));
      }
    } finally {
      lock.unlock();
    }
    executor.execute(this::ask);
  }

  /// Stops sending to a listener, after acknowledging the events that it has handled.
  ///
  /// @param sink stops only if the events go to this sink; null for any sink
  void remove(ListenerId listening, Service.@Nullable Sink sink) {
    acknowledge();
    lock.lock();
    try {
      Place place = places.get(listening);
      if (place == null || (sink != null && !place.sink.equals(sink))) return;
      places.remove(listening);
      stopWhenEmpty();
    } finally {
      lock.unlock();
    }
  }

  private void stopWhenEmpty() {
    WatchRegistration watching = watch;
    if (!places.isEmpty() || watching == null) return;
    watch = null;
    watching.close();
  }

  boolean isEmpty() {
    lock.lock();
    try {
      return places.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  // ---- sending

  private void ask() {
    var after = new ArrayList<KeyCommand.UpTo>();
    lock.lock();
    try {
      again = asking;
      if (asking) return;
      places.forEach((listening, place) -> {
        if (place.hasRoom()) after.add(new KeyCommand.UpTo(listening, place.sent));
      });
      if (after.isEmpty()) return;
      asking = true;
    } finally {
      lock.unlock();
    }
    try {
      var query = new ListenableKey.Query.Waiting(after, WINDOW, SEND_BYTES);
      values
          .core()
          .getAsync(target, query, Terms.expecting(new Existence.Any(null)).at(Pace.SHORT))
          .whenDone(settled -> answered(settled, after));
    } catch (RuntimeException refused) {
      failed(refused);
    }
  }

  private void answered(Request settled, List<KeyCommand.UpTo> after) {
    List<KeyAnswer.Batch> batches;
    try {
      batches = ((KeyAnswer.Waiting) settled.answer()).batches();
    } catch (RuntimeException failure) {
      failed(failure);
      return;
    }
    var sends = new ArrayList<Runnable>();
    lock.lock();
    try {
      for (int i = 0; i < batches.size(); i++) {
        Place place = places.get(after.get(i).listening());
        if (place != null && place.sent == after.get(i).number()) {
          take(place, batches.get(i), sends);
        }
      }
    } finally {
      lock.unlock();
    }
    sends.forEach(Runnable::run);
    boolean more;
    lock.lock();
    try {
      asking = false;
      more = again;
    } finally {
      lock.unlock();
    }
    if (more) executor.execute(this::ask);
  }

  private void take(Place place, KeyAnswer.Batch batch, List<Runnable> sends) {
    Service.Sink sink = place.sink;
    if (!batch.known()) {
      place.over = true;
      places.remove(batch.listening(), place);
      stopWhenEmpty();
      sends.add(() -> sink.failed(new Closed("the session of the listener has ended")));
      return;
    }
    // The first batch tells the position of the listener.
    if (place.sent == 0 && batch.first() > 1) {
      place.sent = batch.first() - 1;
      place.heard = place.sent;
      place.acknowledged = place.sent;
    }
    for (byte[] event : batch.events()) {
      long number = ++place.sent;
      TraceParent trace = batch.traces().get(number);
      sends.add(() -> sink.event(number, event, trace));
    }
    again |= batch.more();
    byte[] ended = batch.ended();
    if (ended != null) {
      place.over = true;
      long number = ++place.sent;
      sends.add(() -> sink.ended(number, ended));
    }
  }

  /// Repeats the failed question at the next tick, unless the store has failed for good.
  private void failed(RuntimeException cause) {
    var gone = new ArrayList<Service.Sink>();
    lock.lock();
    try {
      asking = false;
      again = true;
      if (isLasting(cause)) {
        places.values().forEach(place -> gone.add(place.sink));
        places.clear();
        stopWhenEmpty();
      }
    } finally {
      lock.unlock();
    }
    values.tickLater(this);
    gone.forEach(sink -> sink.failed(cause));
  }

  private boolean isLasting(RuntimeException cause) {
    return cause instanceof Closed || values.core().hasFailed();
  }

  // ---- handled

  /// Notes that a listener has handled its events up to a number.
  void heard(ListenerId listening, long number) {
    boolean full;
    boolean due;
    lock.lock();
    try {
      Place place = places.get(listening);
      if (place == null || number <= place.heard || number > place.sent) return;
      full = !place.over && place.sent - place.heard >= WINDOW;
      place.heard = number;
      due = place.over || number - place.acknowledged >= ACKNOWLEDGED_EVENTS;
    } finally {
      lock.unlock();
    }
    if (due) acknowledge();
    else values.tickLater(this);
    if (full) executor.execute(this::ask);
  }

  /// Does the postponed work.
  void tick() {
    acknowledge();
    if (values.core().hasFailed()) {
      failed(new Unavailable("the store has failed; reopen it, and register again"));
      return;
    }
    boolean retry;
    lock.lock();
    try {
      retry = again && !asking;
    } finally {
      lock.unlock();
    }
    if (retry) ask();
  }

  private void acknowledge() {
    var heard = new ArrayList<KeyCommand.UpTo>();
    lock.lock();
    try {
      if (acknowledging) {
        values.tickLater(this);
        return;
      }
      places.forEach((listening, place) -> {
        if (place.heard > place.acknowledged) {
          heard.add(new KeyCommand.UpTo(listening, place.heard));
        }
      });
      if (heard.isEmpty()) return;
      acknowledging = true;
    } finally {
      lock.unlock();
    }
    byte[] put = new KeyCommand.Acknowledge(heard).encoded();
    try {
      values
          .core()
          .putAsync(target, Put.of(put), Terms.expecting(new Existence.Any(null)).at(Pace.SHORT))
          .whenDone(settled -> acknowledged(settled, heard));
    } catch (RuntimeException refused) {
      acknowledgementFailed(refused);
    }
  }

  private void acknowledged(Request settled, List<KeyCommand.UpTo> heard) {
    try {
      var _ = settled.answer();
    } catch (RuntimeException failure) {
      acknowledgementFailed(failure);
      return;
    }
    var over = new ArrayList<ListenerId>();
    lock.lock();
    try {
      acknowledging = false;
      for (KeyCommand.UpTo upTo : heard) {
        Place place = places.get(upTo.listening());
        if (place == null) continue;
        place.acknowledged = Math.max(place.acknowledged, upTo.number());
        if (!place.over || place.acknowledged < place.sent) continue;
        places.remove(upTo.listening());
        over.add(upTo.listening());
      }
      stopWhenEmpty();
    } finally {
      lock.unlock();
    }
    for (ListenerId listening : over) values.left(listening, target.key());
  }

  private void acknowledgementFailed(RuntimeException cause) {
    lock.lock();
    try {
      acknowledging = false;
    } finally {
      lock.unlock();
    }
    if (isLasting(cause)) failed(cause);
    else values.tickLater(this);
  }
}
