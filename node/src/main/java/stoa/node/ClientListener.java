package stoa.node;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.TraceParent;
import stoa.front.Service;
import stoa.objects.KeyService;
import stoa.wire.proto.Event;

/// A listener of a client: its events go into the outbox of its session. Thread-safe.
final class ClientListener {
  private final Session session;
  private final long number;
  private final Key key;
  private final KeyService.Listener listener;

  ClientListener(Session session, long number, Key key, KeyService.Listener listener) {
    this.session = session;
    this.number = number;
    this.key = key;
    this.listener = listener;
  }

  Key key() {
    return key;
  }

  KeyService.Listener listener() {
    return listener;
  }

  /// Begins to send unhandled events over the present connection: it is unknown which events
  /// arrived over a lost one. No effect without a connection.
  synchronized void send() {
    ClientConnection to = session.connection();
    if (to != null) listener.send(new Over(to));
  }

  /// Sends over one connection: messages for an older one come after those that it lost.
  private final class Over implements Service.Sink {
    private final ClientConnection to;

    private Over(ClientConnection to) {
      this.to = to;
    }

    @Override
    public void event(long event, byte[] value, @Nullable TraceParent trace) {
      Event.Builder told = event(event).setValue(ByteString.copyFrom(value));
      if (trace != null) told.setTraceparent(trace.toString());
      send(told);
    }

    @Override
    public void ended(long event, byte[] cause) {
      send(event(event).setEnded("ended").setCause(ByteString.copyFrom(cause)));
    }

    @Override
    public void failed(RuntimeException cause) {
      send(event(0).setEnded(String.valueOf(cause.getMessage())));
    }

    private void send(Event.Builder event) {
      // A listener does not end with the store here: the next server of the store continues it.
      if (!to.isOver()) session.event(to, event.build());
    }

    private Event.Builder event(long event) {
      return Event.newBuilder().setListener(number).setNumber(event);
    }
  }
}
