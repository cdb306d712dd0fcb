package stoa.node;

import com.google.protobuf.ByteString;
import stoa.objects.KeyService;
import stoa.wire.proto.Event;

/// A listener of a client: its events go into the outbox of its session. Thread-safe.
final class ClientListener implements KeyService.Sink {
  private final Session session;
  private final long number;
  private final KeyService.Listener listener;

  ClientListener(Session session, long number, KeyService.Listener listener) {
    this.session = session;
    this.number = number;
    this.listener = listener;
  }

  KeyService.Listener listener() {
    return listener;
  }

  /// Begins to send what the client has not handled: nobody knows what arrived over a connection
  /// that was lost.
  void send() {
    listener.send(this);
  }

  @Override
  public void event(long event, byte[] value) {
    session.event(event(event).setValue(ByteString.copyFrom(value)).build());
  }

  @Override
  public void ended(long event, byte[] cause) {
    session.event(event(event).setEnded("ended").setCause(ByteString.copyFrom(cause)).build());
  }

  @Override
  public void failed(RuntimeException cause) {
    session.event(event(0).setEnded(String.valueOf(cause.getMessage())).build());
  }

  private Event.Builder event(long event) {
    return Event.newBuilder().setListener(number).setNumber(event);
  }
}
