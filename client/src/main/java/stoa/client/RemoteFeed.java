package stoa.client;

import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.base.TraceParent;
import stoa.front.Service;
import stoa.wire.proto.Event;
import stoa.wire.proto.Listen;

/// The events of a key of a server for one listener of this process. Thread-safe.
final class RemoteFeed implements Service.Feed {
  private final RemoteKeys keys;
  private final Listen listen;
  private final long session;
  private volatile Service.@Nullable Sink sink;

  /// @param listen the request that registers the listener
  /// @param session the session of the listener
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

  // ---- messages of the server

  void event(Event event) {
    Service.Sink to = sink;
    if (to == null) return;
    if (event.getEnded().isEmpty()) {
      to.event(
          event.getNumber(),
          event.getValue().toByteArray(),
          TraceParent.parse(event.getTraceparent()));
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

  // ---- calls of the listener

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
