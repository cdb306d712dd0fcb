package stoa.sinks;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Subscription;
import stoa.TooOld;

/// Brings changes from a store to a target, each once.
///
/// The token in the target decides where it begins. The position of its subscription decides how
/// much of the log the store keeps for it, and follows the token. When the store has released
/// changes behind the token, the sink begins anew with the present objects.
///
/// @param <T> the type of the objects
/// @param <E> how the target fails
final class Sink<T, E extends Exception> {
  private static final Logger LOG = LoggerFactory.getLogger(Sink.class);

  // How many changes one commit has at least, when more are there.
  private static final int BATCH = 500;

  // An acknowledgement is an entry of the log.
  private static final long ACKNOWLEDGE_NANOS = TimeUnit.SECONDS.toNanos(1);

  // How often a token that moves without changes is worth a commit.
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final Target<E> target;
  private final Stoa stoa;
  private final Changes<T> what;
  private final @Nullable Subscription subscription;
  private final @Nullable Duration idleMax;
  private final Envelope envelopes;
  private final Order order = new Order();
  private long handled;
  private long uncommitted;
  private @Nullable LogAddress committed;
  private long committedNanos;
  private @Nullable LogAddress acknowledged;
  private long acknowledgedNanos;

  private Sink(
      Target<E> target,
      Stoa stoa,
      Changes<T> what,
      @Nullable Subscription subscription,
      @Nullable Duration idleMax) {
    this.target = target;
    this.stoa = stoa;
    this.what = what;
    this.subscription = subscription;
    this.idleMax = idleMax;
    envelopes = new Envelope(subscription == null ? "stoa" : subscription.name());
  }

  /// Writes changes to a target.
  ///
  /// @param what the changes; their start does not count
  /// @param subscription what holds the log for this sink; null for none
  /// @param idleMax ends when no change comes for this time; null for never
  /// @return how many changes it has written
  /// @throws TooOld when the store releases changes before the target has the present objects
  static <T, E extends Exception> long run(
      Target<E> target,
      Stoa stoa,
      Changes<T> what,
      @Nullable Subscription subscription,
      @Nullable Duration idleMax)
      throws E, InterruptedException {
    var sink = new Sink<T, E>(target, stoa, what, subscription, idleMax);
    sink.run();
    return sink.handled;
  }

  private void run() throws E, InterruptedException {
    boolean isAnew = target.token() == null;
    while (true) {
      try {
        pass(isAnew);
        return;
      } catch (TooOld released) {
        if (isAnew && committed == null) throw released;
        LOG.warn("begins anew with the present objects: {}", released.getMessage());
        isAnew = true;
      }
    }
  }

  private void pass(boolean isAnew) throws E, InterruptedException {
    LogAddress known = isAnew ? null : target.token();
    committed = known;
    committedNanos = System.nanoTime();
    uncommitted = 0;
    try (ChangeStream<T> changes =
        stoa.changes(known == null ? what.fromPresent() : what.after(known))) {
      if (known == null) snapshot(changes);
      while (follow(changes)) {
        // the next one
      }
      LogAddress reached = changes.token();
      if (uncommitted > 0 || !reached.equals(committed)) commit(reached);
      acknowledge(true);
    } finally {
      target.rollback();
    }
  }

  /// Writes the present objects, and what is gone.
  private void snapshot(ChangeStream<T> changes) throws E, InterruptedException {
    target.beginSnapshot();
    order.begin();
    LogAddress token = token(changes);
    while (token == null) {
      Change<T> present = changes.next();
      // From here on the store keeps the changes behind this moment.
      if (order.count() == 0) hold(present.at().address());
      token = token(changes);
      long size = token == null ? 0 : order.count() + 1;
      target.write(present, order.next(present, size), envelopes);
      handled++;
    }
    if (order.count() == 0) hold(token);
    target.endSnapshot(token, order, envelopes);
    order.begin();
    uncommitted++;
  }

  /// Handles the next change, or waits for one.
  ///
  /// @return whether to go on
  private boolean follow(ChangeStream<T> changes) throws E, InterruptedException {
    var next = changes.poll();
    if (next.isEmpty()) {
      if (Thread.interrupted()) throw new InterruptedException("a sink was interrupted");
      // The changes become visible before this waits.
      if (uncommitted > 0) commit(changes.token());
      Duration limit = idleMax;
      next = changes.next(limit == null ? IDLE : limit);
      if (next.isEmpty()) {
        if (limit != null) return false;
        idle(changes.token());
        return true;
      }
    }
    Change<T> change = next.get();
    target.write(change, order.next(change, change.at().size()), envelopes);
    if (change.at().isLast()) order.begin();
    handled++;
    uncommitted++;
    if (change.at().isLast() && uncommitted >= BATCH) commit(changes.token());
    return true;
  }

  private void idle(LogAddress token) throws E {
    boolean isDue = System.nanoTime() - committedNanos >= IDLE_NANOS;
    if (isDue && !token.equals(committed)) commit(token);
    acknowledge(false);
  }

  private void commit(LogAddress token) throws E {
    target.commit(token);
    committed = token;
    committedNanos = System.nanoTime();
    uncommitted = 0;
    acknowledge(false);
  }

  /// Moves the position of the subscription to a snapshot that is not written yet. The token in the
  /// target decides where the sink begins, so nothing is lost when the sink ends before that.
  private void hold(LogAddress moment) {
    Subscription some = subscription;
    if (some != null) some.acknowledge(moment);
  }

  private void acknowledge(boolean isLast) {
    Subscription some = subscription;
    LogAddress token = committed;
    if (some == null || token == null || token.equals(acknowledged)) return;
    long now = System.nanoTime();
    boolean isEarly = acknowledged != null && now - acknowledgedNanos < ACKNOWLEDGE_NANOS;
    if (isEarly && !isLast) return;
    some.acknowledge(token);
    acknowledged = token;
    acknowledgedNanos = now;
  }

  /// Returns the token of a stream; null while present objects are left.
  private static @Nullable LogAddress token(ChangeStream<?> changes) {
    try {
      return changes.token();
    } catch (IllegalStateException more) {
      return null;
    }
  }
}
