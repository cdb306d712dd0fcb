package stoa.objects;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.ListenerLimits;
import stoa.base.Key;
import stoa.front.Service;

/// The events of a key of this process for one listener of this process. Thread-safe.
final class LocalFeed implements Service.Feed {
  private final KeyValues values;
  private final Key key;
  private final ListenerId listening;
  private final byte[] handler;
  private final int code;
  private final ListenerLimits limits;
  private volatile Service.@Nullable Sink sink;

  /// @param code the number of the handler's code
  LocalFeed(
      KeyValues values,
      Key key,
      ListenerId listening,
      byte[] handler,
      int code,
      ListenerLimits limits) {
    this.values = values;
    this.key = key;
    this.listening = listening;
    this.handler = handler;
    this.code = code;
    this.limits = limits;
  }

  @Override
  public void begin(Service.Sink events) {
    sink = events;
    values.register(listening, key, limits, handler, code);
    values.send(listening, key, events);
  }

  @Override
  public void heard(long number) {
    values.heard(listening, key, number);
  }

  @Override
  public void over() {}

  @Override
  public boolean isOver() {
    return values.core().isClosed();
  }

  @Override
  public void execute(Runnable task) {
    values.executor().execute(task);
  }

  @Override
  public void close() {
    values.stop(listening, key, Objects.requireNonNull(sink));
    values.unregister(listening, key);
  }
}
