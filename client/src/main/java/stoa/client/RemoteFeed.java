package stoa.client;

import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.front.Service;
import stoa.wire.proto.Event;
import stoa.wire.proto.Listen;

/// What a key of a server tells one listener of this process. Thread-safe.
final class RemoteFeed implements Service.Feed {
  private final RemoteKeys keys;
  private final Listen listen;
  private final long session;
  private volatile Service.@Nullable Sink sink;

  /// @param listen how the server is told of the listener
  /// @param session whose the listener is
  RemoteFeed(RemoteKeys keys, Listen listen, long session) {
    this.keys = keys;
    this.listen = listen;
    this.session = session;
  }

  long number() {
    return listen.getListener();
  }

  Listen listen() {
    return listen;
  }

  long session() {
    return session;
  }

  // ---- what the server says

  void event(Event event) {
    Service.Sink to = sink;
    if (to == null) return;
    if (event.getEnded().isEmpty()) {
      to.event(event.getNumber(), event.getValue().toByteArray());
      return;
    }
    byte[] cause = event.getCause().toByteArray();
    if (cause.length == 0) to.failed(new Closed(event.getEnded()));
    else to.ended(event.getNumber(), cause);
  }

  void failed(RuntimeException cause) {
    Service.Sink to = sink;
    if (to != null) to.failed(cause);
  }

  // ---- what the listener does

  @Override
  public void begin(Service.Sink events) {
    sink = events;
    keys.listen(this);
  }

  @Override
  public void heard(long number) {
    if (number > 0) keys.heard(number(), number);
  }

  @Override
  public void over() {
    keys.over(this);
  }

  @Override
  public boolean isOver() {
    return false;
  }

  @Override
  public void execute(Runnable task) {
    keys.execute(task);
  }

  @Override
  public void close() {
    keys.unlisten(this);
  }
}
