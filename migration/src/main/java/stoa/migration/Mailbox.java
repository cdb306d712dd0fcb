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

/// The tasks of one node, which run one after the other on the threads that add them. Thread-safe.
///
/// A thread that works for one node and adds a task to the mailbox of another runs that task when
/// it has finished with the first node. So no node waits for another, and no stack grows.
public final class Mailbox {
  private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);

  // The mailboxes that the current thread must look into; unset while it works for none.
  private static final ThreadLocal<@Nullable Deque<Mailbox>> ROUND = new ThreadLocal<>();

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  // The number of tasks, with the running one. The thread that adds the first task runs them.
  private final AtomicInteger left = new AtomicInteger();
  private final Consumer<RuntimeException> failed;

  /// Creates an empty mailbox.
  ///
  /// @param failed receives the exception of a task; later tasks run nevertheless
  public Mailbox(Consumer<RuntimeException> failed) {
    this.failed = failed;
  }

  /// Adds a task after all earlier ones. This thread runs it, unless another one works here, or
  /// this one works for another node.
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

  /* Whatever this throws, the loop goes on: no other thread would run later tasks. */
  private void tell(RuntimeException broken) {
    try {
      failed.accept(broken);
    } catch (RuntimeException | Error again) {
      LOG.error("the failure of an event could not be reported", again);
    }
  }
}
