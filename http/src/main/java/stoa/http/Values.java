package stoa.http;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.Serial;
import java.io.Serializable;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.StoaException;
import stoa.node.HttpDoor.Reply;
import stoa.node.access.Caller;

/// The key-value store over HTTP: its values as JSON, and the puts of a key as server-sent events.
/// Thread-safe.
final class Values {
  private static final int NO_CONTENT = 204;
  private static final int AHEAD_MAX = 256;

  private final StoreClients clients;
  private final EventStreams streams;

  Values(StoreClients clients, EventStreams streams) {
    this.clients = clients;
    this.streams = streams;
  }

  /// A handler whose events are all puts of its key.
  public record EachPut() implements KeyHandler<Object, Object>, Serializable {
    @Serial private static final long serialVersionUID = 1L;

    @Override
    public Object handle(Object key, @Nullable Object value, @Nullable Object before) {
      return Optional.ofNullable(value);
    }
  }

  /// Answers `GET /v1/values/KEY`.
  Reply get(Asking asking) {
    asking.allow();
    try (var use = clients.of(asking).use()) {
      Object value = use.stoa().store().get(use.shares().key(asking.variable(0)));
      if (value == null) throw Problem.absent("there is no value of " + asking.variable(0));
      return JsonText.reply(use.forms().write(use.forms().any(), value, "the value"));
    }
  }

  /// Answers `PUT /v1/values/KEY`.
  Reply put(Asking asking) {
    asking.allow();
    JsonElement body = asking.body(JsonNull.INSTANCE);
    try (var use = clients.of(asking).use()) {
      Object value = use.forms().read(use.forms().any(), body, "the value");
      if (value == null) throw Problem.wrong("the value is null; DELETE removes one");
      use.stoa().store().put(use.shares().key(asking.variable(0)), value);
      return Reply.of(NO_CONTENT, "application/json", new byte[0]);
    }
  }

  /// Answers `DELETE /v1/values/KEY`.
  Reply remove(Asking asking) {
    asking.allow();
    try (var use = clients.of(asking).use()) {
      boolean wasThere = use.stoa().store().remove(use.shares().key(asking.variable(0)));
      if (!wasThere) throw Problem.absent("there is no value of " + asking.variable(0));
      return Reply.of(NO_CONTENT, "application/json", new byte[0]);
    }
  }

  /// Answers `GET /v1/values/KEY/events`: the present value, and then each put.
  Reply events(Asking asking) {
    asking.allow();
    try (var use = clients.of(asking).use()) {
      var _ = use.shares().key(asking.variable(0));
    }
    return streams.reply(out -> run(out, asking.caller(), asking.variable(0)));
  }

  private void run(EventStreams.Sending out, Caller caller, String text)
      throws IOException, InterruptedException {
    var puts = new Puts();
    try (var use = clients.of(caller).use()) {
      Object key = use.shares().key(text);
      try (var _ = use.stoa().store().register(key, puts, new EachPut())) {
        tell(out, use, 0, Optional.ofNullable(use.stoa().store().get(key)));
        while (!streams.isClosed() && caller.isKnown()) {
          KeyEvent<?> event = puts.events.poll(EventStreams.restMillis(), TimeUnit.MILLISECONDS);
          if (event != null) tell(out, use, event.number(), (Optional<?>) event.value());
          else if (puts.ended != null) throw puts.ended;
          else out.rested();
        }
      } catch (StoaException ended) {
        out.event("problem", "", Problem.of(ended).json());
      }
    }
  }

  private static void tell(
      EventStreams.Sending out, StoreClient.Use use, long number, Optional<?> value)
      throws IOException {
    var told = new JsonObject();
    told.addProperty("exists", value.isPresent());
    if (value.isPresent()) {
      told.add("value", use.forms().write(use.forms().any(), value.get(), "the value"));
    }
    out.event("put", Long.toString(number), told);
  }

  private static final class Puts implements KeyListener<Object> {
    // Full when the client reads slowly; the store then keeps events, and ends the listener at its
    // limits.
    private final BlockingQueue<KeyEvent<Object>> events = new ArrayBlockingQueue<>(AHEAD_MAX);
    private volatile @Nullable StoaException ended;

    @Override
    public void on(KeyEvent<Object> event) {
      try {
        events.put(event);
      } catch (InterruptedException closing) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void ended(StoaException cause) {
      ended = cause;
    }
  }
}
