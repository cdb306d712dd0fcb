package stoa.client;

import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.Closed;
import stoa.KeyEvent;
import stoa.KeyListener;
import stoa.Registration;
import stoa.StoaException;
import stoa.base.ThrowableText;
import stoa.front.SharedKeys;
import stoa.wire.proto.Event;
import stoa.wire.proto.Listen;

/// A listener of a client, and the events that have arrived for it. Thread-safe.
///
/// What waits here is bounded by what the server sends ahead of what was heard.
final class RemoteListener<W> implements Registration {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteListener.class);

  private final RemoteKeyValues values;
  private final Object key;
  private final Listen listen;
  private final long session;
  private final Executor executor;
  private final KeyListener<? super W> listener;
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();

  // Of whoever runs.
  private long handled;
  private boolean unheard;

  RemoteListener(
      RemoteKeyValues values,
      Object key,
      Listen listen,
      long session,
      Executor executor,
      KeyListener<? super W> listener) {
    this.values = values;
    this.key = key;
    this.listen = listen;
    this.session = session;
    this.executor = executor;
    this.listener = listener;
  }

  Listen listen() {
    return listen;
  }

  /// The session whose it is.
  long session() {
    return session;
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
    if (closed.compareAndSet(false, true)) values.unlisten(this, listen);
  }

  // ---- what the server says

  void event(Event event) {
    add(() -> take(event));
  }

  /// There are no more events.
  void end(StoaException cause) {
    add(() -> tellEnd(cause));
  }

  private void add(Runnable step) {
    waiting.add(step);
    if (running.get() || !running.compareAndSet(false, true)) return;
    try {
      executor.execute(this::run);
    } catch (RejectedExecutionException over) {
      LOG.debug("the store is closed; an event of {} is dropped", key);
    }
  }

  private void run() {
    do {
      for (Runnable step; (step = waiting.poll()) != null; ) step.run();
      if (unheard && !closed.get()) values.heard(listen.getListener(), handled);
      unheard = false;
      running.set(false);
    } while (!waiting.isEmpty() && running.compareAndSet(false, true));
  }

  // ---- what the listener is told

  private void take(Event event) {
    if (closed.get()) return;
    if (!event.getEnded().isEmpty()) {
      byte[] cause = event.getCause().toByteArray();
      tellEnd(
          cause.length == 0
              ? new Closed(event.getEnded())
              : SharedKeys.cause(cause, values.marshaller()::thrown));
      if (event.getNumber() > 0) values.heard(listen.getListener(), event.getNumber());
      return;
    }
    // One that is sent again, over another connection: the server does not know that it was
    // handled.
    // One that follows on others that were lost is sent again behind these.
    unheard = true;
    if (event.getNumber() != handled + 1) return;
    try {
      @SuppressWarnings("unchecked") // Justification: the handler answers values of this class
      W value =
          (W) Objects.requireNonNull(values.marshaller().value(event.getValue().toByteArray()));
      listener.on(new KeyEvent<>(key, value, event.getNumber()));
    } catch (RuntimeException | Error thrown) {
      boolean first = isOpen();
      try {
        close();
      } catch (StoaException failure) {
        LOG.warn("a listener of {} is not taken out: {}", key, failure.getMessage());
      }
      if (first) told(new CallFailed("the listener threw " + ThrowableText.of(thrown), thrown));
      return;
    }
    handled = event.getNumber();
  }

  private void tellEnd(StoaException cause) {
    if (!closed.compareAndSet(false, true)) return;
    values.over(listen.getListener());
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
