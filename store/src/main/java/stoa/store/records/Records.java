package stoa.store.records;

import org.jspecify.annotations.Nullable;
import stoa.base.CallId;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;

/// The formats of the entries that the store writes into streams.
///
/// ```
/// kind       payload
/// PUT        origin u8: 0 outside, 1 nested, 2 a client of a server;
///            when nested: caller id 16, call varint, number varint;
///            call 0 stands for a transaction, whose mark the caller id is;
///            when of a client: session varint, sequence varint
///            behind varint: the distance in addresses to the last put that had been executed when
///            the leader logged this one, and about which the stream had everything
///            how u8: the sum of 1 when it begins a generation; 2 when it executes on a copy of the
///            state, see Put.copied; 4 when the number of a code follows, see Put.code
///            when 4: code varint
///            when 1: listed varint, opening u8: 0, or 1 and sized bytes
///            the value, up to the end
/// DELETE     origin as above; listed varint
/// ANSWERED   call varint, number varint, target space text, target name sized, the answer;
///            of the key itself: a value that its handler made once, see Execution.once;
///            with number 0, of the key itself: the sequels of this put and of those before are in
///            the log, see Sequel
/// VERDICT    call varint, and the reason, see Refusal
/// REFUSED    origin as above, and the reason: a put of another store's handler that no key
///            executes
/// LISTED     name, up to the end                 (in the stream of a space's directory)
/// UNLISTED   listed varint                       (in the stream of a space's directory)
/// DONE       call varint: a put that ran long, and stands
/// ARRIVED    origin as above: a client's call that waits behind others for a condition, and has no
///            PUT yet; nothing executes it
/// CHECKPOINT nothing: the state is encoded here, and continues in its decoded form
/// NOTE       an entry of the layer above
/// DATA       an entry that a user appends to a stream
/// APPENDED   the same of a client of a server: origin as above, and the entry, up to the end
///
/// mark of a PUT that begins a generation: 1 u8, listed varint; of a DELETE: 0 u8
/// ```
///
/// `listed` is the address in the directory's stream of the entry that lists the key.
public final class Records {
  public static final byte PUT = 1;
  public static final byte DELETE = 2;
  public static final byte ANSWERED = 3;
  public static final byte VERDICT = 4;
  public static final byte LISTED = 5;
  public static final byte UNLISTED = 6;
  public static final byte NOTE = 7;
  public static final byte DONE = 8;
  public static final byte REFUSED = 9;
  public static final byte CHECKPOINT = 10;
  public static final byte ARRIVED = 11;
  public static final byte DATA = 16;
  public static final byte APPENDED = 17;

  private static final int BEGINS = 1;
  private static final int COPIED = 2;
  private static final int CODED = 4;

  private Records() {}

  /// The identity of a call that a handler makes on another key, or a client of a server makes.
  ///
  /// @param caller the stream of the calling handler, the mark of a transaction, or the two numbers
  ///   of a [CallId]
  /// @param call the stream address of the put that the handler executes, 0 for a transaction, -1
  ///   for a client
  /// @param number the number of the call in that put, from 1
  public record Origin(StreamId caller, long call, int number) {
    private static final long CLIENT = -1;

    /// Returns the origin of a client's call; null for null.
    public static @Nullable Origin of(@Nullable CallId id) {
      return id == null ? null : new Origin(new StreamId(id.session(), id.sequence()), CLIENT, 0);
    }

    /// Returns the id of the client's call.
    public CallId id() {
      return new CallId(caller.high(), caller.low());
    }

    /// Returns whether a transaction makes the call.
    public boolean isTransaction() {
      return call == 0;
    }

    /// Returns whether a handler makes the call.
    public boolean isHandler() {
      return call > 0;
    }

    private boolean isClient() {
      return call == CLIENT;
    }
  }

  /// A decoded put.
  ///
  /// @param origin the origin of the put, or null when it came from outside
  /// @param behind the distance in addresses to the last put that had been executed when the leader
  ///   logged this one, and about which the stream had everything
  /// @param begins whether the put begins a generation
  /// @param copied whether the put executes on a copy of the state that is made right before it. A
  ///   transaction ran it on such a copy, whose shape in memory may differ, and handlers may depend
  ///   on that shape
  /// @param code the number of the code that executes it, on every replica and in every replay; 0
  ///   when the leader named none
  /// @param opening the argument from which the generation's handler is created
  /// @param value the bytes for the handler
  public record Put(
      @Nullable Origin origin,
      long behind,
      boolean begins,
      boolean copied,
      int code,
      byte @Nullable [] opening,
      byte[] value) {}

  /// A decoded nested answer.
  ///
  /// @param call the stream address of the put that made the call
  /// @param number the number of the call in that put, from 1
  /// @param space the space of the key that answered
  /// @param name the name of the key that answered
  /// @param answer the encoded answer
  public record Answered(long call, int number, String space, byte[] name, byte[] answer) {}

  /// A decoded verdict.
  ///
  /// @param call the stream address of the put that was taken back
  /// @param why the reason
  public record Verdict(long call, Refusal why) {}

  /// A decoded refusal of another store's put.
  ///
  /// @param origin the origin of the put
  /// @param why the reason
  public record RefusedCall(Origin origin, Refusal why) {}

  /// The mark of a generation's beginning or end.
  ///
  /// @param alive whether a generation begins here; otherwise one ends
  /// @param listed the address at which the directory lists the generation
  public record Mark(boolean alive, long listed) {}

  public static byte[] put(@Nullable Origin origin, long behind, int code, byte[] value) {
    return how(new Encoder(45), origin, behind, 0, code).followedBy(value);
  }

  /// Returns a put that executes on a copy of the state.
  public static byte[] copiedPut(@Nullable Origin origin, long behind, int code, byte[] value) {
    return how(new Encoder(45), origin, behind, COPIED, code).followedBy(value);
  }

  private static Encoder how(
      Encoder out, @Nullable Origin origin, long behind, int flags, int code) {
    origin(out, origin).varint(behind);
    return code == 0 ? out.u8(flags) : out.u8(flags | CODED).varint(code);
  }

  public static byte[] beginningPut(
      @Nullable Origin origin,
      long behind,
      int code,
      long listed,
      byte @Nullable [] opening,
      byte[] value) {
    var out = how(new Encoder(77), origin, behind, BEGINS, code);
    out.varint(listed);
    if (opening == null) out.u8(0);
    else out.u8(1).sized(opening);
    return out.followedBy(value);
  }

  public static Put put(byte[] payload) {
    var in = new Decoder(payload);
    Origin origin = origin(in);
    long behind = in.varint();
    int how = in.u8();
    int code = (how & CODED) == 0 ? 0 : (int) in.varint();
    boolean begins = (how & BEGINS) != 0;
    byte[] opening = null;
    if (begins) {
      in.varint();
      if (in.u8() == 1) opening = in.sized();
    }
    boolean copied = (how & COPIED) != 0;
    return new Put(origin, behind, begins, copied, code, opening, in.raw(in.remaining()));
  }

  /// Changes what a PUT or DELETE refers to outside its stream.
  public interface References {
    /// Returns the new address of the entry that lists the key.
    long listed(long address);

    /// Returns the new form of a put that names code, or none.
    ///
    /// @param put the decoded put
    /// @return the same with other code, another opening, and another value
    Put put(Put put);
  }

  /// Returns a PUT or DELETE with other references.
  public static byte[] with(byte kind, byte[] payload, References references) {
    var in = new Decoder(payload);
    Origin origin = origin(in);
    if (kind == DELETE) return delete(origin, references.listed(in.varint()));
    in.varint();
    int how = in.u8();
    if ((how & CODED) != 0) in.varint();
    long listed = (how & BEGINS) == 0 ? 0 : references.listed(in.varint());
    Put put = references.put(put(payload));
    if (put.begins) {
      return beginningPut(origin, put.behind, put.code, listed, put.opening, put.value);
    }
    return put.copied
        ? copiedPut(origin, put.behind, put.code, put.value)
        : put(origin, put.behind, put.code, put.value);
  }

  /// Returns the distance from a PUT to the last settled put, see [Put#behind()].
  public static long behind(byte[] payload) {
    var in = new Decoder(payload);
    origin(in);
    return in.varint();
  }

  public static byte[] delete(@Nullable Origin origin, long listed) {
    return origin(new Encoder(32), origin).varint(listed).toBytes();
  }

  public static byte[] arrived(Origin origin) {
    return origin(new Encoder(32), origin).toBytes();
  }

  /// Returns the origin of a PUT, a DELETE, an ARRIVED or an APPENDED.
  public static @Nullable Origin originOf(byte[] payload) {
    return origin(new Decoder(payload));
  }

  public static byte[] answered(Origin origin, Key target, byte[] answer) {
    var out = new Encoder(64).varint(origin.call()).varint(origin.number());
    return out.text(target.space()).sized(target.name()).followedBy(answer);
  }

  /// Returns an entry of kind ANSWERED: the changes of other keys that a put and those before it
  /// have left to the store are in the log.
  public static byte[] followed(Key key, long call) {
    return answered(new Origin(key.stream(), call, 0), key, new byte[0]);
  }

  /// Returns whether an entry is one of [#followed].
  public static boolean isFollowed(StoredEntry entry) {
    return entry.kind() == ANSWERED && answered(entry.payload()).number() == 0;
  }

  public static Answered answered(byte[] payload) {
    var in = new Decoder(payload);
    long call = in.varint();
    int number = (int) in.varint();
    String space = in.text();
    byte[] name = in.sized();
    return new Answered(call, number, space, name, in.raw(in.remaining()));
  }

  /// Returns whether a kind of entries is that of users' streams.
  public static boolean isOfUsers(byte kind) {
    return kind == DATA || kind == APPENDED;
  }

  public static byte[] appended(Origin origin, byte[] data) {
    return origin(new Encoder(32), origin).followedBy(data);
  }

  /// Returns what a user appended, without the name of the append.
  public static byte[] data(StoredEntry entry) {
    if (entry.kind() != APPENDED) return entry.payload();
    var in = new Decoder(entry.payload());
    origin(in);
    return in.raw(in.remaining());
  }

  public static byte[] verdict(Verdict verdict) {
    var out = new Encoder(64).varint(verdict.call());
    verdict.why().write(out);
    return out.toBytes();
  }

  public static Verdict verdict(byte[] payload) {
    var in = new Decoder(payload);
    return new Verdict(in.varint(), Refusal.read(in));
  }

  public static byte[] refused(RefusedCall refused) {
    var out = origin(new Encoder(96), refused.origin());
    refused.why().write(out);
    return out.toBytes();
  }

  public static RefusedCall refused(byte[] payload) {
    var in = new Decoder(payload);
    Origin origin = origin(in);
    return new RefusedCall(java.util.Objects.requireNonNull(origin), Refusal.read(in));
  }

  public static byte[] done(long call) {
    return new Encoder(16).varint(call).toBytes();
  }

  public static long done(byte[] payload) {
    return new Decoder(payload).varint();
  }

  /// Returns the address at which the directory listed the generation that a DELETE ends.
  public static long listedBy(byte[] deletion) {
    var in = new Decoder(deletion);
    origin(in);
    return in.varint();
  }

  public static byte[] unlisted(long listed) {
    return new Encoder(16).varint(listed).toBytes();
  }

  public static long unlisted(byte[] payload) {
    return new Decoder(payload).varint();
  }

  public static byte[] beginMark(long listed) {
    return new Encoder(16).u8(1).varint(listed).toBytes();
  }

  public static byte[] endMark() {
    return new byte[] {0};
  }

  public static Mark mark(byte[] data) {
    var in = new Decoder(data);
    boolean alive = in.u8() == 1;
    return new Mark(alive, alive ? in.varint() : 0);
  }

  private static Encoder origin(Encoder out, @Nullable Origin origin) {
    if (origin == null) return out.u8(0);
    if (origin.isClient()) {
      return out.u8(2).varint(origin.caller().high()).varint(origin.caller().low());
    }
    return out.u8(1).id(origin.caller()).varint(origin.call()).varint(origin.number());
  }

  private static @Nullable Origin origin(Decoder in) {
    int kind = in.u8();
    if (kind == 0) return null;
    if (kind == 2) return Origin.of(new CallId(in.varint(), in.varint()));
    return new Origin(in.id(), in.varint(), (int) in.varint());
  }

  /// Returns whether an entry changes the state of its key as of its address: a put or a deletion.
  public static boolean isChange(StoredEntry entry) {
    return entry.kind() == PUT || entry.kind() == DELETE;
  }
}
