package stoa.front;

import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
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
import stoa.base.TraceParent;
import stoa.front.marshal.Marshaller;

/// A program's listener, with the events that have arrived for it and wait for a thread.
///
/// Thread-safe. The number of waiting events is bounded, since the store sends only a limited
/// number ahead of the handled ones.
final class SharedListener<W> implements ListenerRegistration, Service.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(SharedListener.class);

  private final SharedStoa stoa;
  private final Object key;
  private final Service.Feed feed;
  private final Marshaller marshaller;
  private final KeyListener<? super W> listener;
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();

  // Only the running thread uses it.
  private long handled;
  private boolean unheard;

  SharedListener(
      SharedStoa stoa,
      Object key,
      Service.Feed feed,
      Marshaller marshaller,
      KeyListener<? super W> listener) {
    this.stoa = stoa;
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

  // ---- calls of the store

  @Override
  public void event(long number, byte[] event, @Nullable TraceParent trace) {
    add(() -> take(number, event, trace));
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

  // ---- calls of the listener

  private void take(long number, byte[] event, @Nullable TraceParent trace) {
    if (closed.get()) return;
    // A repeated event over another connection: the server does not know that the listener has
    // handled it. An event after lost ones arrives again after these.
    unheard = true;
    if (number != handled + 1) return;
    try {
      @SuppressWarnings("unchecked") // Justification: the handler returns values of this class
      W value = (W) Objects.requireNonNull(marshaller.value(event));
      SharedStoa.recorded(
          trace == null ? null : stoa.delivered(trace),
          () -> {
            listener.on(new KeyEvent<>(key, value, number));
            return true;
          });
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
