package stoa.migration;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is to happen to one node, one thing after the other, on the threads of those who ask for
/// it. Thread-safe.
///
/// A thread that is at work for one node and puts something into the mailbox of another does it
/// when it is done with the first: no node waits for another, and no stack grows.
public final class Mailbox {
  private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);

  /* The mailboxes that the current thread is to look into; unset while it is at work for none. */
  private static final ThreadLocal<@Nullable Deque<Mailbox>> ROUND = new ThreadLocal<>();

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  /* How many tasks there are, with the one that is being done: who puts in the first one does them. */
  private final AtomicInteger left = new AtomicInteger();
  private final Consumer<RuntimeException> failed;

  /// An empty one.
  ///
  /// @param failed is told what a task threw; further ones are done nevertheless
  public Mailbox(Consumer<RuntimeException> failed) {
    this.failed = failed;
  }

  /// Has something done after all that was put in before; by this thread, unless another one is at
  /// work here, or this one is for another node.
  public void put(Runnable task) {
    tasks.add(task);
    if (left.getAndIncrement() > 0) return;
    var round = ROUND.get();
    if (round != null) {
      round.add(this);
      return;
    }
    round = new ArrayDeque<>();
    ROUND.set(round);
    try {
      for (@Nullable Mailbox next = this; next != null; next = round.poll()) next.empty();
    } finally {
      ROUND.remove();
    }
  }

  private void empty() {
    do {
      try {
        tasks.remove().run();
      } catch (RuntimeException broken) {
        tell(broken);
      } catch (Error broken) {
        tell(new IllegalStateException("an event was not taken: " + broken, broken));
      }
    } while (left.decrementAndGet() > 0);
  }

  /* Whatever comes of it: nobody else would take what is put in from now on. */
  private void tell(RuntimeException broken) {
    try {
      failed.accept(broken);
    } catch (RuntimeException | Error again) {
      LOG.error("nobody could be told that an event was not taken", again);
    }
  }
}
