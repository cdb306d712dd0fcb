package stoa.front;

import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.Closed;
import stoa.KeyEvent;
import stoa.KeyListener;
import stoa.ListenerRegistration;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.ThrowableText;
import stoa.front.marshal.Marshaller;

/// A listener of a program, and the events that have arrived for it and wait until it has a thread.
///
/// Thread-safe. What waits is bounded by what the store sends ahead of what was handled.
final class SharedListener<W> implements ListenerRegistration, Service.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(SharedListener.class);

  private final Object key;
  private final Service.Feed feed;
  private final Marshaller marshaller;
  private final KeyListener<? super W> listener;
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();

  // Of the thread that runs.
  private long handled;
  private boolean unheard;

  SharedListener(
      Object key, Service.Feed feed, Marshaller marshaller, KeyListener<? super W> listener) {
    this.key = key;
    this.feed = feed;
    this.marshaller = marshaller;
    this.listener = listener;
  }

  @Override
  public Object key() {
    return key;
  }

  @Override
  public boolean isOpen() {
    return !closed.get();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) feed.close();
  }

  // ---- what the store says

  @Override
  public void event(long number, byte[] event) {
    add(() -> take(number, event));
  }

  @Override
  public void ended(long number, byte[] cause) {
    add(() -> {
      tellEnd(SharedKeys.cause(cause, marshaller::thrown));
      feed.heard(number);
    });
  }

  @Override
  public void failed(RuntimeException cause) {
    add(() -> {
      if (cause instanceof Closed && feed.isOver()) {
        closed.set(true);
        return;
      }
      tellEnd(
          cause instanceof StoaException told
              ? told
              : new Unavailable("the listener cannot be told its events", cause));
    });
  }

  private void add(Runnable step) {
    waiting.add(step);
    if (running.get() || !running.compareAndSet(false, true)) return;
    try {
      feed.execute(this::run);
    } catch (RejectedExecutionException over) {
      LOG.debug("the store is closed; an event of {} is dropped", key);
    }
  }

  private void run() {
    do {
      for (Runnable step; (step = waiting.poll()) != null; ) step.run();
      if (unheard && isOpen()) feed.heard(handled);
      unheard = false;
      running.set(false);
    } while (!waiting.isEmpty() && running.compareAndSet(false, true));
  }

  // ---- what the listener is told

  private void take(long number, byte[] event) {
    if (closed.get()) return;
    // One that is sent again, over another connection: the server does not know that it was
    // handled. One that follows on others that were lost is sent again behind these.
    unheard = true;
    if (number != handled + 1) return;
    try {
      @SuppressWarnings("unchecked") // Justification: the handler answers values of this class
      W value = (W) Objects.requireNonNull(marshaller.value(event));
      listener.on(new KeyEvent<>(key, value, number));
    } catch (RuntimeException | Error thrown) {
      end(thrown);
      return;
    }
    handled = number;
  }

  private void end(Throwable thrown) {
    boolean first = isOpen();
    try {
      close();
    } catch (StoaException failure) {
      LOG.warn("a listener of {} is not taken out: {}", key, failure.getMessage());
    }
    if (first) told(new CallFailed("the listener threw " + ThrowableText.of(thrown), thrown));
  }

  private void tellEnd(StoaException cause) {
    if (!closed.compareAndSet(false, true)) return;
    feed.over();
    told(cause);
  }

  private void told(StoaException cause) {
    try {
      listener.ended(cause);
    } catch (RuntimeException | Error thrown) {
      LOG.warn("a listener of {} could not be told of its end", key, thrown);
    }
  }
}
