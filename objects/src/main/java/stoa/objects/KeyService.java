package stoa.objects;

import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.ListenerLimits;
import stoa.NotShareable;
import stoa.base.CallId;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.Service;
import stoa.front.SharedKeys;
import stoa.front.marshal.Effort;
import stoa.front.types.Keys;
import stoa.front.types.NotBrief;
import stoa.store.calls.PriorOutcome;
import stoa.store.running.Request;

/// The server's side of the listenable key-value store, in bytes. Thread-safe.
public final class KeyService {
  private final Catalog catalog;
  private final Part part;
  private final KeyValues values;
  private final Naming naming;
  private final ClassLoader classesOfKeys;
  private final int callBytesMax;

  /// @param naming finds the classes of keys that clients may use
  KeyService(KeyValues values, Catalog catalog, Part part, Naming naming, int callBytesMax) {
    this.values = values;
    this.catalog = catalog;
    this.part = part;
    this.callBytesMax = callBytesMax;
    this.naming = naming;
    this.classesOfKeys = naming.classesOfKeys();
  }

  /// Returns the key of an encoding. Quick.
  ///
  /// @throws NotShareable when it is no encoded key
  /// @throws IllegalArgumentException when another group has it, see [Part]
  public Key key(byte[] encoded) {
    Object name = Keys.decode(encoded, classesOfKeys);
    if (!java.util.Arrays.equals(Keys.encode(name), encoded)) {
      throw new NotShareable("a key is not encoded as it would be here");
    }
    Key key = values.key(encoded);
    part.require(key);
    return key;
  }

  /// Begins to put a value, or to remove it when the argument is null; see [#was]. Quick.
  ///
  /// @param micros how long the value stays, in microseconds; 0 for always
  /// @param timeMax the most time that it may take from now on
  /// @param id the log has it with the put
  /// @throws NotShareable when the store lacks the class of the value, or of something in it
  public Request put(Key key, byte @Nullable [] value, long micros, Duration timeMax, CallId id) {
    checkTime(micros);
    if (value != null) {
      checkLength(key, value);
      // Handlers read it, in the store.
      var _ = values.core().limited(key, () -> checked(value, Effort::full));
    }
    return values.putAsync(key, value, micros, timeMax, id).askedBy(id.session());
  }

  private static void checkTime(long micros) {
    if (micros < 0 || micros > SharedKeys.STAY_MICROS_MAX) {
      throw new IllegalArgumentException("a value cannot stay for " + micros + " microseconds");
    }
  }

  /// Puts like [#put], on a thread that others wait for.
  ///
  /// @throws NotBrief when that may take long: it has done nothing, and another thread must call
  ///   [#put]
  public Request putBriefly(
      Key key, byte @Nullable [] value, long micros, Duration timeMax, CallId id) {
    checkTime(micros);
    if (value != null) {
      checkLength(key, value);
      var _ = checked(value, Effort::brief);
    }
    return values.putAsync(key, value, micros, timeMax, id).askedBy(id.session());
  }

  private void checkLength(Key key, byte[] value) {
    if (value.length > callBytesMax) {
      throw new LimitExceeded(
          "the value of "
              + key
              + " takes "
              + value.length
              + " bytes; callBytesMax is "
              + callBytesMax);
    }
  }

  /// Returns whether there was a value before a settled put.
  public boolean was(Request settled) {
    return values.done(settled.answer());
  }

  /// Returns the result of a put that an earlier process logged; null when none did.
  public @Nullable Boolean earlier(Key key, CallId id, long since) {
    PriorOutcome earlier = values.core().earlier(key, id, since);
    if (earlier == null) return null;
    return earlier.answer() != null && values.done(earlier.answer());
  }

  /// Begins to read a value; see [#found]. Quick.
  ///
  /// @param timeMax the most time that it may take from now on
  /// @param id of the request
  public Request get(Key key, Duration timeMax, CallId id) {
    return values.getAsync(key, timeMax).askedBy(id.session());
  }

  /// Returns the result of a settled question: empty when there is no value, otherwise 1 and the
  /// value.
  public byte[] found(Request settled) {
    byte[] value = KeyValues.value(settled.answer());
    return value == null ? new byte[0] : new Encoder(value.length + 1).u8(1).raw(value).toBytes();
  }

  /// Decodes a value from a client, so that the store never logs an unreadable one: in the code of
  /// the program, or in a version in the log that has the class of the value.
  private byte[] checked(byte[] value, Supplier<Effort> effort) {
    try {
      var _ = read(catalog.program(), value, effort.get());
    } catch (NotShareable absent) {
      if (catalog.loaded().noneMatch(code -> isRead(code, value, effort.get()))) throw absent;
    }
    return value;
  }

  private boolean isRead(LoadedCode code, byte[] value, Effort effort) {
    try {
      var _ = read(code, value, effort);
      return true;
    } catch (NotShareable other) {
      return false;
    }
  }

  private @Nullable Object read(LoadedCode code, byte[] value, Effort effort) {
    try {
      return code.marshaller().value(value, naming.classesOfKeys(code), effort);
    } catch (Corrupt malformed) {
      throw new IllegalArgumentException(
          "a value cannot be read: " + malformed.getMessage(), malformed);
    }
  }

  // ---- listeners

  /// A listener of a client. Thread-safe.
  public final class Listener {
    private final ListenerId listening;
    private final Key key;

    private Listener(ListenerId listening, Key key) {
      this.listening = listening;
      this.key = key;
    }

    /// Begins to send it the events that it has not handled, including those sent before. May take
    /// long.
    public void send(Service.Sink sink) {
      values.send(listening, key, sink);
    }

    /// Notes that it has handled its events up to a number. Quick.
    public void heard(long number) {
      values.heard(listening, key, number);
    }

    /// Stops sending to it; it stays registered. Quick.
    public void stop() {
      values.stop(listening, key, null);
    }

    /// Removes it. May take long.
    public void close() {
      stop();
      values.unregister(listening, key);
    }
  }

  /// Registers a listener of a client, or finds it registered. May take long.
  ///
  /// @param session the client's
  /// @param listener chosen by the client
  /// @param handler encoded
  /// @throws NotShareable when the handler's class cannot run in the store
  public Listener listen(
      long session, long listener, Key key, byte[] handler, ListenerLimits limits) {
    if (handler.length > callBytesMax) {
      throw new LimitExceeded(
          "the handler takes " + handler.length + " bytes; callBytesMax is " + callBytesMax);
    }
    int code =
        values
            .core()
            .limited(
                key, () -> catalog.handlers().numberOf(in -> read(in, handler, Effort.full())));
    var listening = new ListenerId(session, listener);
    values.register(listening, key, limits, handler, code);
    return new Listener(listening, key);
  }

  /// Removes a listener that a client registered with an earlier process. May take long.
  public void unlisten(long session, long listener, Key key) {
    values.unregister(new ListenerId(session, listener), key);
  }

  /// Removes all listeners of a session. May take long.
  public void endSession(long session) {
    values.endSession(session);
  }

  /// Removes the listeners of all client sessions that are not open. May take long.
  public void endAllBut(Set<Long> open) {
    values.endAllBut(open);
  }
}
