package stoa.objects;

import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.Closed;
import stoa.KeyEvent;
import stoa.KeyListener;
import stoa.Registration;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Key;
import stoa.base.ThrowableText;
import stoa.front.SharedKeys;
import stoa.front.marshal.Marshaller;

/// A listener in the process that has the store open: its events wait here until it has a thread.
///
/// Thread-safe. What waits is bounded by what the feed sends ahead.
final class LocalListener<W> implements KeyFeed.Sink, Registration {
  private static final Logger LOG = LoggerFactory.getLogger(LocalListener.class);

  private final KeyValues values;
  private final Marshaller marshaller;
  private final Listening listening;
  private final Key key;
  private final Object name;
  private final KeyListener<? super W> listener;
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();

  LocalListener(
      KeyValues values,
      Marshaller marshaller,
      Listening listening,
      Key key,
      KeyListener<? super W> listener) {
    this.values = values;
    this.marshaller = marshaller;
    this.listening = listening;
    this.key = key;
    this.name = ((stoa.Ref<?>) key.label()).key();
    this.listener = listener;
  }

  @Override
  public Object key() {
    return name;
  }

  @Override
  public boolean isOpen() {
    return !closed.get();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) return;
    values.stop(listening, key, this);
    values.unregister(listening, key);
  }

  // ---- what the feed calls

  @Override
  public void event(long number, byte[] event) {
    add(() -> tell(number, event));
  }

  @Override
  public void ended(long number, byte[] cause) {
    add(() -> {
      if (closed.compareAndSet(false, true))
        tellEnd(SharedKeys.cause(cause, marshaller::thrown));
      values.heard(listening, key, number);
    });
  }

  @Override
  public void failed(RuntimeException cause) {
    add(() -> {
      boolean first = closed.compareAndSet(false, true);
      if (!first || (cause instanceof Closed && values.core().isClosed())) return;
      tellEnd(
          cause instanceof StoaException told
              ? told
              : new Unavailable("the listener cannot be told its events", cause));
    });
  }

  private void add(Runnable step) {
    waiting.add(step);
    if (!running.get() && running.compareAndSet(false, true)) values.executor().execute(this::run);
  }

  private void run() {
    do {
      for (Runnable step; (step = waiting.poll()) != null; ) step.run();
      running.set(false);
    } while (!waiting.isEmpty() && running.compareAndSet(false, true));
  }

  // ---- what the listener is told

  private void tell(long number, byte[] event) {
    if (closed.get()) return;
    try {
      @SuppressWarnings("unchecked") // Justification: the handler answers values of this class
      W value = (W) Objects.requireNonNull(marshaller.value(event));
      listener.on(new KeyEvent<>(name, value, number));
    } catch (RuntimeException | Error thrown) {
      end(thrown);
      return;
    }
    values.heard(listening, key, number);
  }

  private void end(Throwable thrown) {
    boolean first = isOpen();
    try {
      close();
    } catch (StoaException failure) {
      LOG.warn("a listener of {} is not taken out: {}", key, failure.getMessage());
    }
    if (first) tellEnd(new CallFailed("the listener threw " + ThrowableText.of(thrown), thrown));
  }

  private void tellEnd(StoaException cause) {
    try {
      listener.ended(cause);
    } catch (RuntimeException | Error thrown) {
      LOG.warn("a listener of {} could not be told of its end", key, thrown);
    }
  }
}
