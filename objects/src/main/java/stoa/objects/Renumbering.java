package stoa.objects;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.StoaException;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.front.CallNumbers;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.SharedKeys;
import stoa.front.SharedStoa;
import stoa.front.marshal.Marshaller;
import stoa.front.types.SharedMethod;
import stoa.log.StoredEntry;
import stoa.log.StreamCopy;
import stoa.log.Streams;
import stoa.store.records.Records;

/// Writes what a group has logged in the numbers of another dictionary: that of an open store,
/// which has all names of the group's dictionary and its code. One thread uses it.
final class Renumbering {
  /*
   * Numbers of a dictionary are in these places: the code and the method of a put, the code of a
   * checkpoint and of a listener's registration, and in values, which the marshaller has written.
   * For a value, the code of its put decodes it by the old numbers, as every replay does, and
   * encodes it by the new ones.
   *
   * Some values name no code: those of keys, and of Stoa's own objects. Then the program is asked
   * first, and after it the versions in the log; a version that encodes the value to the same bytes
   * in the old numbers goes in front of others.
   */
  private static final byte GRAPH = 0x1F;
  private static final byte THROWN = 0x30;
  private static final byte THROWN_TEXT = 0x31;
  private static final int CODED = 8;
  private static final int STATE = 0;
  private static final int CONSTRUCTOR_THREW = 1;

  private final Catalog catalog;
  private final List<String> names;
  private final LongUnaryOperator numbers;

  private final Map<LoadedCode, SourceIds> ids = new HashMap<>();
  private final Map<LoadedCode, Marshaller> readers = new HashMap<>();
  private final Map<String, Integer> firsts = new HashMap<>();

  /// @param catalog the types of the open store
  /// @param names the group's dictionary
  /// @param numbers returns the new number of an old one
  Renumbering(Catalog catalog, List<String> names, LongUnaryOperator numbers) {
    this.catalog = catalog;
    this.names = names;
    this.numbers = numbers;
  }

  // ---- numbers

  private int number(int old) {
    if (old < 0 || old >= names.size()) {
      throw new Corrupt("an entry has the number " + old + ", and the names are " + names.size());
    }
    return (int) numbers.applyAsLong(old);
  }

  /// Returns the new number of a code: the number of the activation's name, plus 1.
  private int code(int old) {
    return old == 0 ? 0 : number(old - 1) + 1;
  }

  /// Returns the number of the code that executes a put of a type without one.
  private int first(String type) {
    return firsts.computeIfAbsent(
        type,
        _ -> {
          for (int number = 0; number < names.size(); number++) {
            if (type.equals(Codes.typeOf(Codes.CODE, names.get(number)))) return number + 1;
          }
          return 0;
        });
  }

  /// Returns the type in the code of an old number, which may read what that number's code read.
  private ObjectType type(String name, int old) {
    int number = old == 0 ? first(name) : old;
    ObjectType type = catalog.typeAt(name, code(number));
    extend(type.code(), number);
    return type;
  }

  private void extend(LoadedCode code, int number) {
    if (code.isStored() && number > 0) ids(code).extend(number - 1);
  }

  private SourceIds ids(LoadedCode code) {
    return ids.computeIfAbsent(
        code, one -> new SourceIds(names, one.isStored() ? 0 : names.size()));
  }

  private Marshaller reader(LoadedCode code) {
    return readers.computeIfAbsent(code, one -> one.marshaller(ids(one)));
  }

  // ---- values

  /// Reads a value by the old numbers.
  private <T extends @Nullable Object> T read(LoadedCode code, Function<Marshaller, T> reading) {
    Marshaller reader = reader(code);
    try {
      return reading.apply(reader);
    } catch (NotShareable unknown) {
      boolean any = catalog.registerAll(code, reader);
      any |= catalog.admitted().registerStored(code, reader);
      if (!any) throw unknown;
      return reading.apply(reader);
    }
  }

  /// A value in the new numbers.
  ///
  /// @param exact whether the code that read it writes the old bytes again
  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Renumbered(byte[] bytes, boolean exact) {}

  /// How bytes are read, and written again.
  private interface Form<T extends @Nullable Object> {
    T read(Marshaller by);

    byte[] write(Marshaller by, T value);
  }

  private <T extends @Nullable Object> byte[] renumbered(
      LoadedCode code, byte[] bytes, Form<T> form) {
    if (code.isStored()) return attempt(code, bytes, form, false).bytes;
    var others = catalog.loaded().distinct().toList();
    NotShareable refusal = null;
    Renumbered found = null;
    var candidates = new ArrayList<LoadedCode>(others.size() + 1);
    candidates.add(code);
    candidates.addAll(others);
    for (LoadedCode one : candidates) {
      if (one.isStored()) ids(one).extend(names.size());
      try {
        Renumbered now = attempt(one, bytes, form, !others.isEmpty());
        if (found == null || now.exact) found = now;
        if (now.exact || others.isEmpty()) break;
      } catch (NotShareable other) {
        if (refusal == null) refusal = other;
        else refusal.addSuppressed(other);
      }
    }
    if (found != null) return found.bytes;
    throw Objects.requireNonNull(refusal);
  }

  private <T extends @Nullable Object> Renumbered attempt(
      LoadedCode code, byte[] bytes, Form<T> form, boolean compare) {
    T value = read(code, form::read);
    boolean exact = compare && Arrays.equals(bytes, form.write(reader(code), value));
    return new Renumbered(form.write(code.marshaller(), value), exact);
  }

  private byte[] value(LoadedCode code, byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != GRAPH) return bytes;
    return renumbered(
        code,
        bytes,
        new Form<@Nullable Object>() {
          @SuppressWarnings("NullAway") // it does not see that T may be null here
          @Override
          public @Nullable Object read(Marshaller by) {
            return by.value(bytes);
          }

          @Override
          public byte[] write(Marshaller by, @Nullable Object value) {
            return by.value(value);
          }
        });
  }

  private byte[] thrown(LoadedCode code, byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != THROWN) return bytes;
    return renumbered(
        code,
        bytes,
        new Form<Throwable>() {
          @Override
          public Throwable read(Marshaller by) {
            return by.thrown(bytes);
          }

          @Override
          public byte[] write(Marshaller by, Throwable thrown) {
            return by.thrown(thrown);
          }
        });
  }

  private byte[] state(ObjectType type, byte[] bytes) {
    if (bytes.length == 0) return bytes;
    return renumbered(
        type.code(),
        bytes,
        new Form<Object>() {
          @Override
          public Object read(Marshaller by) {
            return by.state(type.shared(), bytes);
          }

          @Override
          public byte[] write(Marshaller by, Object instance) {
            return by.state(type.shared(), instance);
          }
        });
  }

  private byte[] arguments(ObjectType.Called called, byte[] bytes) {
    SharedMethod method = called.method();
    if (Marshaller.isSimple(method)) return bytes;
    return renumbered(
        called.type().code(),
        bytes,
        new Form<@Nullable Object[]>() {
          @Override
          public @Nullable Object[] read(Marshaller by) {
            by.register(called.type().shared());
            return by.arguments(method, bytes);
          }

          @Override
          public byte[] write(Marshaller by, @Nullable Object[] arguments) {
            return by.arguments(method, arguments);
          }
        });
  }

  // ---- entries of objects

  /// Returns how the entries of an object change.
  ///
  /// @param type the stored name of its type; for a key of the key-value store, that of its space
  /// @param from has the stream
  /// @param listed returns the new address of an entry of the type's directory
  StreamCopy.Changes of(String type, Streams from, StreamId stream, LongUnaryOperator listed) {
    return new Changes(type, from, stream, listed);
  }

  private final class Changes implements StreamCopy.Changes, Records.References {
    private final String type;
    private final Streams from;
    private final StreamId stream;
    private final LongUnaryOperator listed;

    private Changes(String type, Streams from, StreamId stream, LongUnaryOperator listed) {
      this.type = type;
      this.from = from;
      this.stream = stream;
      this.listed = listed;
    }

    @Override
    public byte[] entry(StoredEntry entry) {
      try {
        return switch (entry.kind()) {
          case Records.PUT, Records.DELETE -> Records.with(entry.kind(), entry.payload(), this);
          case Records.ANSWERED -> answered(Records.answered(entry.payload()));
          default -> entry.payload();
        };
      } catch (StoaException unreadable) {
        throw new NotShareable(
            "version "
                + entry.address()
                + " of an object of "
                + type
                + " cannot be read: "
                + unreadable.getMessage()
                + "; give its classes with --classpath",
            unreadable);
      }
    }

    @Override
    public byte[] mark(byte[] mark) {
      Records.Mark read = Records.mark(mark);
      return read.alive() ? Records.beginMark(listed(read.listed())) : mark;
    }

    @Override
    public byte[] checkpoint(long address, byte[] state) {
      return Renumbering.this.checkpoint(type, state);
    }

    @Override
    public long listed(long address) {
      long place = listed.applyAsLong(address);
      if (place > 0) return place;
      throw new Corrupt("an object of " + type + " is not in the list of its type at " + address);
    }

    @Override
    public Records.Put put(Records.Put put) {
      if (type.equals(SharedStoa.BLOBS)) return put;
      if (type.equals(SharedKeys.SPACE)) return with(put, 0, put.opening(), command(put.value()));
      ObjectType by = type(type, put.code());
      byte[] opening = put.opening();
      int number = put.code() == 0 ? first(type) : put.code();
      return with(
          put,
          code(number),
          opening == null ? null : value(by.code(), opening),
          call(by, put.value()));
    }

    private Records.Put with(Records.Put put, int code, byte @Nullable [] opening, byte[] changed) {
      return new Records.Put(
          put.origin(), put.behind(), put.begins(), put.copied(), code, opening, changed);
    }

    private byte[] answered(Records.Answered answered) {
      byte[] answer = answered.answer();
      LoadedCode code = catalog.program();
      if (!type.equals(SharedKeys.SPACE) && !type.equals(SharedStoa.BLOBS)) {
        StoredEntry put = from.read(stream, answered.call());
        // Without the put, no replay reads its answers.
        if (put == null || put.kind() != Records.PUT) return encoded(answered, answer);
        code = type(type, Records.put(put.payload()).code()).code();
      }
      return encoded(answered, answer(code, answered.space(), answer));
    }

    private byte[] encoded(Records.Answered answered, byte[] answer) {
      return Records.answered(
          new Records.Origin(stream, answered.call(), answered.number()),
          new stoa.base.Key(answered.space(), answered.name(), answered.space()),
          answer);
    }
  }

  private byte[] answer(LoadedCode code, String space, byte[] answer) {
    if (answer.length == 0 || space.equals(SharedStoa.BLOBS)) return answer;
    byte[] rest = Arrays.copyOfRange(answer, 1, answer.length);
    return switch (answer[0]) {
      case ObjectAnswer.RETURNED ->
          space.equals(SharedKeys.SPACE) ? answer : behind(answer[0], value(code, rest));
      case ObjectAnswer.THREW -> behind(answer[0], thrown(code, rest));
      case ObjectAnswer.LENT, THROWN_TEXT -> answer;
      case THROWN -> thrown(code, answer);
      default -> throw new Corrupt("an answer begins with byte " + answer[0]);
    };
  }

  private static byte[] behind(int first, byte[] rest) {
    return new Encoder(rest.length + 1).u8(first).raw(rest).toBytes();
  }

  private byte[] call(ObjectType by, byte[] call) {
    if (PlacedState.isIn(call)) {
      return placed(by, PlacedState.decode(call, PlacedState.PREFIX)).put();
    }
    var in = new Decoder(call);
    int number = (int) in.varint();
    if (!CallNumbers.isMethod(number)) return call;
    byte[] arguments = in.raw(in.remaining());
    var out = new Encoder(call.length + 8).varint(code(number));
    ObjectType.Called called;
    try {
      called = by.called(new Decoder(out.toBytes()));
    } catch (NotShareable unfit) {
      // The code has no such method: the call fails in every replay, before it reads an argument.
      return out.raw(arguments).toBytes();
    }
    if (called == null) throw new Corrupt("the number " + number + " is none of a method");
    return out.raw(arguments(called, arguments)).toBytes();
  }

  private PlacedState placed(ObjectType by, PlacedState state) {
    return new PlacedState(state.generation(), state.number(), state(by, state.bytes()));
  }

  // ---- keys

  private byte[] command(byte[] put) {
    return switch (KeyCommand.decoded(put)) {
      case KeyCommand.Put(byte[] value) when value != null ->
          new KeyCommand.Put(value(catalog.program(), value)).encoded();
      case KeyCommand.PutFor(long micros, byte[] value) ->
          new KeyCommand.PutFor(micros, value(catalog.program(), value)).encoded();
      case KeyCommand.Register register -> {
        int code = code(register.code());
        byte[] handler = value(handlerCode(register.code()), register.handler());
        yield new KeyCommand.Register(
                register.listening(), register.limits(), register.listenersMax(), handler, code)
            .encoded();
      }
      default -> put;
    };
  }

  private LoadedCode handlerCode(int old) {
    LoadedCode code = catalog.handlers().at(code(old));
    extend(code, old);
    return code;
  }

  // ---- checkpoints

  /// Returns the checkpoint of an object in the new numbers.
  ///
  /// @param type as in [#of]
  byte[] checkpoint(String type, byte[] checkpoint) {
    if (type.equals(SharedStoa.BLOBS)) return checkpoint;
    if (type.equals(SharedKeys.SPACE)) return ofKey(checkpoint);
    var in = new Decoder(checkpoint);
    int kind = in.u8();
    int old = kind < CODED ? 0 : (int) in.varint();
    ObjectType by = type(type, old);
    byte[] rest = in.raw(in.remaining());
    int code = code(old == 0 ? first(type) : old);
    int plain = kind & (CODED - 1);
    byte[] changed =
        switch (plain & ObjectHandler.CONTENT) {
          case STATE -> state(by, rest);
          case CONSTRUCTOR_THREW -> thrown(by.code(), rest);
          default -> placed(by, PlacedState.decode(rest, 0)).encoded();
        };
    var out = new Encoder(changed.length + 8);
    if (code == 0) out.u8(plain);
    else out.u8(plain + CODED).varint(code);
    return out.raw(changed).toBytes();
  }

  private byte[] ofKey(byte[] checkpoint) {
    var in = new Decoder(checkpoint);
    var out = new Encoder(checkpoint.length + 64);
    int kind = in.u8();
    out.u8(kind);
    if (kind >= 2) out.varint(in.varint()).varint(in.varint());
    if (kind % 2 == 1) out.sized(value(catalog.program(), in.sized()));
    int listeners = in.count();
    out.varint(listeners);
    for (; listeners > 0; listeners--) listener(in, out);
    return out.toBytes();
  }

  private void listener(Decoder in, Encoder out) {
    ListenerId.read(in).write(out);
    out.varint(in.varint()).varint(in.varint()).varint(in.varint());
    int events = in.count();
    out.varint(events);
    var waiting = new ArrayList<byte[]>();
    for (; events > 0; events--) waiting.add(in.sized());
    int kind = in.u8();
    int old = kind == 2 ? (int) in.varint() : 0;
    byte[] last = in.sized();
    LoadedCode code = kind == 1 ? catalog.program() : handlerCode(old);
    for (byte[] event : waiting) out.sized(value(code, event));
    if (kind == 1) {
      byte[] rest = Arrays.copyOfRange(last, 1, last.length);
      out.u8(1).sized(behind(last[0], thrown(code, rest)));
    } else if (old == 0) {
      out.u8(0).sized(value(code, last));
    } else {
      out.u8(2).varint(code(old)).sized(value(code, last));
    }
  }
}
