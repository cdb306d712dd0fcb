package stoa.objects;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.KeyHandler;
import stoa.KeyValueStore;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.base.Answer;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.Trace;
import stoa.front.SharedKeys;
import stoa.front.marshal.Marshaller;
import stoa.spi.CallContext;
import stoa.spi.Cancellation;
import stoa.spi.Collections;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// A key in the listenable key-value store: the value `D(k)` and the handlers `H(k)` (CRESON,
/// algorithm 1; AOF, algorithm 2).
///
/// ```
/// checkpoint:  0 u8 | 1 u8, the value sized;  count varint, { listener }
///              2 u8 | 3 u8, timer varint, end varint, then as of 0 or 1, when it has a timer
/// ended:       1 u8, the throwable       it fell too far behind
///              2 u8, the throwable       its handler threw
/// ```
final class ListenableKey implements Handler {
  /*
   * doPut, doRegListener and doUnregListener of the algorithm are the puts on the key, which the
   * stream orders; doGet is a question. Where the algorithm sends ⟨k, res⟩ to the listener, the
   * event joins the listener's part of the state. KeyFeed delivers it from there, and it leaves the
   * state when the listener has handled it. So a failure loses the event only if it loses the put.
   *
   * Invariants:
   * (1) A listener's events are its handler's answers to the puts since its registration, in their
   *     order, numbered densely from 1. The key drops those that the listener has handled.
   * (2) The key does not ask a listener that has ended. It keeps the listener until it has
   *     delivered the end.
   * (3) All waiting events take at most PENDING_BYTES_MAX.
   * (4) A value with an end has a timer that is due no later: the keeper of timers looks at the key
   *     then. A value that is put again for a longer time needs no other timer.
   *
   * Everything here is a function of the puts. The log has the limits, and also the reason why a
   * listener has ended (Execution.once), since a replay would produce another stack trace.
   */
  private static final int THROWN_BYTES_MAX = 64 << 10;
  private static final byte BEHIND = SharedKeys.BEHIND;
  private static final int HANDLER_THREW = 2;
  private static final int TIMED = 2;

  /// A question.
  sealed interface Query {
    /// For the value.
    record Value() implements Query {}

    /// Whether a session has listeners.
    record Listens(long session) implements Query {}

    /// For the events of some listeners after the last that each was sent.
    ///
    /// @param after the last number that each was sent
    /// @param countMax the most events of each listener to return
    /// @param bytesMax the number of bytes of each listener after which to stop
    record Waiting(List<KeyCommand.UpTo> after, int countMax, int bytesMax) implements Query {}
  }

  static final class Factory implements HandlerFactory {
    private final Environment environment;

    Factory(Environment environment) {
      this.environment = environment;
    }

    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return new ListenableKey(environment);
    }

    @Override
    public boolean isOrdered() {
      return false;
    }

    @Override
    public boolean hasPast() {
      return false;
    }

    @Override
    public boolean givesUp(byte[] put) {
      return switch (KeyCommand.decoded(put)) {
        case KeyCommand.Put(byte[] newValue) -> newValue == null;
        case KeyCommand.Register _, KeyCommand.PutFor _ -> false;
        case KeyCommand.End _ -> true;
        case KeyCommand.Unregister _, KeyCommand.EndSession _, KeyCommand.Acknowledge _ -> true;
      };
    }

    @Override
    public boolean changesOthers(byte[] put) {
      return KeyCommand.PutFor.isIn(put);
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      var restored = new ListenableKey(environment);
      var in = new Decoder(checkpoint);
      int kind = in.u8();
      if (kind >= TIMED) {
        restored.timerMicros = in.varint();
        restored.endMicros = in.varint();
      }
      if (kind % TIMED == 1) restored.value = in.sized();
      for (int count = in.count(); count > 0; count--) {
        ListenerState state = ListenerState.read(in);
        restored.listeners.put(state.listening(), state);
        restored.bytes += state.bytes();
      }
      return restored;
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new KeyAnswer.Refused(environment.catalog().marshaller().thrown(cause));
    }
  }

  private final Environment environment;
  private final Map<ListenerId, ListenerState> listeners = new LinkedHashMap<>();
  private byte @Nullable [] value;

  // When the value ends; 0 for never.
  private long endMicros;

  // When the keeper of timers looks at this key; 0 for never.
  private long timerMicros;

  // The bytes of the waiting events, of all listeners.
  private int bytes;

  private ListenableKey(Environment environment) {
    this.environment = environment;
  }

  @Override
  public Answer put(byte[] put, Execution execution) {
    return switch (KeyCommand.decoded(put)) {
      case KeyCommand.Put(byte[] newValue) -> {
        endMicros = 0;
        yield replace(newValue, execution);
      }
      case KeyCommand.PutFor(long micros, byte[] newValue) ->
          replaceFor(newValue, execution.nowMicros() + micros, execution);
      case KeyCommand.End _ -> end(execution);
      case KeyCommand.Register register -> register(register);
      case KeyCommand.Unregister(ListenerId listening) ->
          new KeyAnswer.Done(forget(listeners.remove(listening)));
      case KeyCommand.EndSession(long session) -> endSession(session);
      case KeyCommand.Acknowledge(List<KeyCommand.UpTo> all) -> heard(all);
    };
  }

  @Override
  public Answer get(@Nullable Object query, Execution execution) {
    return switch (query) {
      case Query.Value() -> new KeyAnswer.Found(value);
      case Query.Waiting(List<KeyCommand.UpTo> after, int countMax, int bytesMax) ->
          new KeyAnswer.Waiting(
              after.stream().map(one -> waiting(one, countMax, bytesMax)).toList());
      case Query.Listens(long session) ->
          new KeyAnswer.Done(listeners.keySet().stream().anyMatch(one -> one.session() == session));
      case null, default ->
          throw new IllegalStateException("a key is asked for its value, not " + query);
    };
  }

  // ---- put

  private Answer replace(byte @Nullable [] newValue, Execution execution) {
    byte[] before = value;
    if (!listeners.isEmpty()) {
      var arguments = new HashMap<LoadedCode, Arguments>();
      for (ListenerState one : listeners.values()) {
        if (one.isListening()) tell(one, newValue, before, arguments, execution);
      }
    }
    value = newValue;
    return new KeyAnswer.Done(before != null);
  }

  private Answer replaceFor(byte[] newValue, long end, Execution execution) {
    if (timerMicros == 0 || end < timerMicros) {
      try {
        schedule(end, execution);
      } catch (StoaException refused) {
        return new KeyAnswer.Refused(thrown(refused, environment.catalog().marshaller()));
      }
      timerMicros = end;
    }
    endMicros = end;
    return replace(newValue, execution);
  }

  private void schedule(long end, Execution execution) {
    Key key = execution.key();
    var context =
        new ObjectContext(
            environment,
            execution,
            environment.catalog().refOf(key),
            environment.catalog().program(),
            null,
            null);
    var target = new UUID(key.stream().high(), key.stream().low());
    ScopedValue.where(CallContext.CURRENT, context)
        .run(() ->
            Collections.installed()
                .timers()
                .end(context::get, target, key.space(), key.name(), 0, end));
  }

  private Answer end(Execution execution) {
    if (endMicros != 0 && endMicros <= execution.nowMicros()) {
      endMicros = 0;
      var _ = replace(null, execution);
    }
    timerMicros = endMicros;
    return new KeyAnswer.Ends(timerMicros);
  }

  /// @param known the arguments that are decoded, by the code that has decoded them
  private void tell(
      ListenerState one,
      byte @Nullable [] newValue,
      byte @Nullable [] before,
      Map<LoadedCode, Arguments> known,
      Execution execution) {
    Marshaller marshaller = environment.catalog().marshaller();
    byte[] event;
    try {
      LoadedCode code = one.code(environment.catalog().handlers());
      marshaller = code.marshaller();
      event = event(one, code, known, newValue, before, execution);
    } catch (VirtualMachineError | Execution.Unwinding | Cancellation.Stopped beyondTheHandler) {
      throw beyondTheHandler;
    } catch (Throwable thrown) {
      // The put stands. The listener receives the waiting events before the end.
      one.end(ended(HANDLER_THREW, thrown, marshaller, execution));
      return;
    }
    if (event != null) add(one, event, execution);
  }

  private byte @Nullable [] event(
      ListenerState one,
      LoadedCode code,
      Map<LoadedCode, Arguments> known,
      byte @Nullable [] newValue,
      byte @Nullable [] before,
      Execution execution)
      throws Exception {
    Marshaller marshaller = code.marshaller();
    Object name = environment.catalog().nameIn(code, execution.key());
    var context =
        new ObjectContext(
            environment, execution, environment.catalog().refOf(execution.key()), code, null, null);
    KeyHandler<Object, Object> handler = one.handler(code);
    var arguments = known.computeIfAbsent(code, _ -> new Arguments(marshaller, newValue, before));
    return ScopedValue.where(CallContext.CURRENT, context)
        .call(() -> {
          Object answer = handler.handle(name, arguments.value(), arguments.before());
          return answer == null ? null : marshaller.value(answer);
        });
  }

  private void add(ListenerState one, byte[] event, Execution execution) {
    if (one.isFull(event)) {
      endBehind(one, "it has more than " + one.limits() + " events waiting", execution);
      return;
    }
    Trace trace = execution.trace();
    one.add(event, trace == null ? null : trace.parent());
    bytes += event.length;
    while (bytes > KeyValueStore.PENDING_BYTES_MAX) {
      ListenerState most = heaviest(listeners.values());
      endBehind(
          most,
          "the events that wait for all listeners of the key take more than "
              + KeyValueStore.PENDING_BYTES_MAX
              + " bytes, and it has the most of them",
          execution);
    }
  }

  private void endBehind(ListenerState one, String reason, Execution execution) {
    bytes -= one.bytes();
    one.endBehind(
        ended(
            BEHIND,
            new LimitExceeded(
                "the listener was too far behind: " + reason + "; read the key and register again"),
            environment.catalog().marshaller(),
            execution));
  }

  private static ListenerState heaviest(Collection<ListenerState> all) {
    ListenerState most = all.iterator().next();
    for (ListenerState one : all) {
      if (one.bytes() > most.bytes()) most = one;
    }
    return most;
  }

  private static byte[] ended(
      int how, Throwable thrown, Marshaller marshaller, Execution execution) {
    byte[] encoded = execution.once(() -> thrown(thrown, marshaller));
    return new Encoder(encoded.length + 1).u8(how).raw(encoded).toBytes();
  }

  private static byte[] thrown(Throwable thrown, Marshaller marshaller) {
    byte[] encoded = marshaller.thrown(thrown);
    if (encoded.length <= THROWN_BYTES_MAX) return encoded;
    return marshaller.thrown(new CallFailed("a handler threw a " + thrown.getClass().getName()));
  }

  /// The arguments of the handlers of one code: a copy for each handler, unless they are immutable.
  private static final class Arguments {
    private final Marshaller marshaller;
    private final byte @Nullable [] encoded;
    private final byte @Nullable [] encodedBefore;
    private @Nullable Object known;
    private @Nullable Object knownBefore;

    Arguments(Marshaller marshaller, byte @Nullable [] encoded, byte @Nullable [] encodedBefore) {
      this.marshaller = marshaller;
      this.encoded = encoded;
      this.encodedBefore = encodedBefore;
    }

    @Nullable Object value() {
      if (known != null || encoded == null) return known;
      Object read = marshaller.value(encoded);
      if (marshaller.isValue(read)) known = read;
      return read;
    }

    @Nullable Object before() {
      if (knownBefore != null || encodedBefore == null) return knownBefore;
      Object read = marshaller.value(encodedBefore);
      if (marshaller.isValue(read)) knownBefore = read;
      return read;
    }
  }

  // ---- listeners

  private Answer register(KeyCommand.Register register) {
    ListenerId listening = register.listening();
    // The session repeats a registration when it missed the answer, or when its server has
    // restarted.
    if (listeners.containsKey(listening)) return new KeyAnswer.Done(true);
    if (listeners.size() >= register.listenersMax()) {
      return new KeyAnswer.Refused(
          thrown(
              new LimitExceeded(
                  "the key has "
                      + register.listenersMax()
                      + " listeners; close registrations, or listen to another key"),
              environment.catalog().marshaller()));
    }
    var added =
        new ListenerState(listening, register.limits(), register.handler(), register.code());
    listeners.put(listening, added);
    return new KeyAnswer.Done(false);
  }

  private boolean forget(@Nullable ListenerState gone) {
    if (gone != null) bytes -= gone.bytes();
    return gone != null;
  }

  private Answer endSession(long session) {
    boolean any = false;
    for (ListenerState one : new ArrayList<>(listeners.values())) {
      if (one.listening().session() != session) continue;
      any = true;
      var _ = forget(listeners.remove(one.listening()));
    }
    return new KeyAnswer.Done(any);
  }

  private Answer heard(List<KeyCommand.UpTo> all) {
    for (KeyCommand.UpTo upTo : all) {
      ListenerState one = listeners.get(upTo.listening());
      if (one == null) continue;
      int before = one.bytes();
      boolean over = one.heard(upTo.number());
      bytes += one.bytes() - before;
      if (over) listeners.remove(upTo.listening());
    }
    return new KeyAnswer.Done(true);
  }

  private KeyAnswer.Batch waiting(KeyCommand.UpTo after, int countMax, int bytesMax) {
    ListenerState one = listeners.get(after.listening());
    return one == null
        ? new KeyAnswer.Batch(after.listening(), false, 0, List.of(), Map.of(), false, null)
        : one.after(after.number(), countMax, bytesMax);
  }

  @Override
  public byte[] checkpoint() {
    byte[] present = value;
    var out = new Encoder(64 + bytes + (present == null ? 0 : present.length));
    out.u8((present == null ? 0 : 1) + (timerMicros == 0 ? 0 : TIMED));
    if (timerMicros != 0) out.varint(timerMicros).varint(endMicros);
    if (present != null) out.sized(present);
    out.varint(listeners.size());
    for (ListenerState one : listeners.values()) one.write(out, environment.catalog().handlers());
    return out.toBytes();
  }
}
