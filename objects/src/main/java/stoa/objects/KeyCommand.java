package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.ListenerLimits;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// The puts on a key of the listenable key-value store (CRESON, algorithm 1: the ordered messages).
///
/// ```
/// 1 u8, the value as the marshaller writes it                                     PUT
/// 2 u8                                                                            PUT of nothing
/// 3 u8, listening, eventsMax varint, bytesMax varint, listenersMax varint,
///       the handler as the marshaller writes it                                   REG
/// 7 u8, the number of the handler's code varint, and as of 3                      REG
/// 4 u8, listening                                                                 UREG
/// 5 u8, session i64                                                               UREG of a session
/// 6 u8, count varint, { listening, number varint }                                heard
/// 8 u8, micros varint, the value as the marshaller writes it                      PUT for a time
/// 9 u8                                                                            END
/// listening:  session i64, listener varint
/// ```
sealed interface KeyCommand {
  /// Puts a value, or nothing.
  ///
  /// @param value encoded
  record Put(byte @Nullable [] value) implements KeyCommand {}

  /// Puts a value for a time.
  ///
  /// @param micros how long, in microseconds
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record PutFor(long micros, byte[] value) implements KeyCommand {
    /// Returns whether an encoded command is one.
    static boolean isIn(byte[] put) {
      return put.length > 0 && put[0] == PUT_FOR;
    }
  }

  /// Removes the value if its time is over.
  record End() implements KeyCommand {}

  /// Registers a listener. The log has the limits with it, so that every replay uses the same.
  ///
  /// @param handler encoded
  /// @param code the number of the code that executes the handler, see [HandlerCodes]; 0 in the
  ///   programs of earlier releases, which kept no versions of it
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Register(
      ListenerId listening, ListenerLimits limits, int listenersMax, byte[] handler, int code)
      implements KeyCommand {}

  /// Removes a listener and its handler.
  record Unregister(ListenerId listening) implements KeyCommand {}

  /// Removes all listeners of a session.
  record EndSession(long session) implements KeyCommand {}

  /// Listeners have handled their events up to some numbers.
  record Acknowledge(List<UpTo> all) implements KeyCommand {}

  /// A position in the events of a listener.
  ///
  /// @param number of the last event up to this position; 0 for none
  record UpTo(ListenerId listening, long number) {}

  byte PUT_FOR = 8;

  /// Returns the name of the command for operators.
  default String word() {
    return switch (this) {
      case Put(byte[] value) -> value == null ? "remove" : "put";
      case PutFor _ -> "put";
      case End _ -> "end";
      case Register _ -> "register";
      case Unregister _, EndSession _ -> "unregister";
      case Acknowledge _ -> "heard";
    };
  }

  /// Returns the command as a put.
  default byte[] encoded() {
    return switch (this) {
      case Put(byte[] value) ->
          value == null ? new byte[] {2} : new Encoder(value.length + 1).u8(1).raw(value).toBytes();
      case PutFor(long micros, byte[] value) ->
          new Encoder(value.length + 12).u8(PUT_FOR).varint(micros).raw(value).toBytes();
      case End _ -> new byte[] {9};
      case Register(
              ListenerId listening,
              ListenerLimits limits,
              int listenersMax,
              byte[] handler,
              int code) ->
          listening
              .write(coded(new Encoder(handler.length + 48), code))
              .varint(limits.pendingEventsMax())
              .varint(limits.pendingBytesMax())
              .varint(listenersMax)
              .raw(handler)
              .toBytes();
      case Unregister(ListenerId listening) -> listening.write(new Encoder(24).u8(4)).toBytes();
      case EndSession(long session) -> new Encoder(16).u8(5).i64(session).toBytes();
      case Acknowledge(List<UpTo> all) -> {
        var out = new Encoder(8 + 24 * all.size()).u8(6).varint(all.size());
        for (UpTo one : all) one.listening.write(out).varint(one.number);
        yield out.toBytes();
      }
    };
  }

  private static Encoder coded(Encoder out, int code) {
    return code == 0 ? out.u8(3) : out.u8(7).varint(code);
  }

  /// Returns the command of a put.
  static KeyCommand decoded(byte[] put) {
    var in = new Decoder(put);
    int kind = in.u8();
    return switch (kind) {
      case 1 -> new Put(in.raw(in.remaining()));
      case 2 -> new Put(null);
      case 3, 7 -> {
        int code = kind == 7 ? (int) in.varint() : 0;
        ListenerId listening = ListenerId.read(in);
        var limits = new ListenerLimits((int) in.varint(), (int) in.varint());
        int listenersMax = (int) in.varint();
        yield new Register(listening, limits, listenersMax, in.raw(in.remaining()), code);
      }
      case 4 -> new Unregister(ListenerId.read(in));
      case 5 -> new EndSession(in.i64());
      case 6 -> {
        int count = in.count();
        var all = new ArrayList<UpTo>(count);
        for (int i = 0; i < count; i++) all.add(new UpTo(ListenerId.read(in), in.varint()));
        yield new Acknowledge(all);
      }
      case PUT_FOR -> new PutFor(in.varint(), in.raw(in.remaining()));
      case 9 -> new End();
      default -> throw new Corrupt("a command " + kind + " on a key");
    };
  }
}
