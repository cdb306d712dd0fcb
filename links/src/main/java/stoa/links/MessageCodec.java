package stoa.links;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.Decoder;
import stoa.base.Decoder.MalformedException;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.Dependency;
import stoa.migration.core.Message;
import stoa.migration.core.Message.Course;
import stoa.migration.core.Message.Kin;
import stoa.migration.core.Message.ReadId;
import stoa.migration.core.Message.Route;
import stoa.migration.core.NodeId;
import stoa.migration.core.Upward;

/// Messages between nodes of the tree, as bytes. Stateless.
///
/// A message is a byte for its kind, and its parts in the order in which [Message] has them:
/// numbers as varint, streams in 16 bytes, texts and states after their length, collections after
/// their size.
final class MessageCodec {
  private static final int RETRIEVE = 1;
  private static final int MIGRATE = 2;
  private static final int ASK = 3;
  private static final int REPLY = 4;
  private static final int ANSWER = 5;
  private static final int COPY_UP = 6;
  private static final int DURABLE = 7;
  private static final int JOIN = 8;
  private static final int OFFER = 9;
  private static final int ATTACH = 10;
  private static final int WELCOME = 11;
  private static final int MOVE = 12;
  private static final int DEPART = 13;
  private static final int HOLD = 14;
  private static final int HOLDING = 15;
  private static final int RESUME = 16;
  private static final int PROMOTE = 17;
  private static final int REPLACED = 18;
  private static final int FAREWELL = 19;
  private static final int GREET = 20;
  private static final int DEPTH = 21;
  private static final int RETURN = 22;
  private static final int KEPT = 23;

  private MessageCodec() {}

  private interface Writing<T> {
    void write(Encoder out, T each);
  }

  private interface Reading<T> {
    T read(Decoder in);
  }

  static void write(Encoder out, Message message) {
    switch (message) {
      case Message.Retrieve(StreamId object) -> out.u8(RETRIEVE).id(object);
      case Message.Migrate(StreamId object, Upward copies) ->
          write(out.u8(MIGRATE).id(object), copies);
      case Message.Ask(ReadId read, StreamId object) -> write(out.u8(ASK), read).id(object);
      case Message.Reply(ReadId read, StreamId object, Upward copies) ->
          write(write(out.u8(REPLY), read).id(object), copies);
      case Message.Answer(long read, Copy copy) -> write(out.u8(ANSWER).varint(read), copy);
      case Message.CopyUp(NodeId node, long number, var objects, Upward copies) -> {
        write(out.u8(COPY_UP), node).varint(number);
        all(out, objects, Encoder::id);
        write(out, copies);
      }
      case Message.Durable(long number) -> out.u8(DURABLE).varint(number);
      case Message.Join(NodeId newcomer, Locality at, int detour, var avoid) -> {
        write(write(out.u8(JOIN), newcomer), at).u8(detour);
        all(out, avoid, MessageCodec::write);
      }
      case Message.Offer(NodeId above) -> write(out.u8(OFFER), above);
      case Message.Attach(Locality at) -> write(out.u8(ATTACH), at);
      case Message.Welcome() -> out.u8(WELCOME);
      case Message.Move() -> out.u8(MOVE);
      case Message.Depart(Upward copies) -> write(out.u8(DEPART), copies);
      case Message.Hold(long attempt, NodeId successor) ->
          write(out.u8(HOLD).varint(attempt), successor);
      case Message.Holding(long attempt, var has) -> {
        out.u8(HOLDING).varint(attempt);
        versions(out, has);
      }
      case Message.Return(Upward copies, var has) -> {
        write(out.u8(RETURN), copies);
        versions(out, has);
      }
      case Message.Kept(var kept) -> versions(out.u8(KEPT), kept);
      case Message.Resume() -> out.u8(RESUME);
      case Message.Promote promote -> write(out.u8(PROMOTE), promote);
      case Message.Replaced(NodeId by) -> write(out.u8(REPLACED), by);
      case Message.Farewell() -> out.u8(FAREWELL);
      case Message.Depth(int depth, var localities) -> {
        out.u8(DEPTH).u8(depth);
        all(out, localities, MessageCodec::write);
      }
      case Message.Greet(Kin kin) -> out.u8(GREET).u8(kin == Kin.PARENT ? 0 : 1);
    }
  }

  private static void versions(Encoder out, SortedMap<StreamId, CopyVersion> some) {
    all(out, some.entrySet(), (to, each) -> write(to.id(each.getKey()), each.getValue()));
  }

  private static SortedMap<StreamId, CopyVersion> versions(Decoder in) {
    return map(in, Decoder::id, MessageCodec::version);
  }

  private static void write(Encoder out, Message.Promote promote) {
    optional(out, promote.parent());
    all(out, promote.children(), MessageCodec::write);
    all(
        out,
        promote.queues().entrySet(),
        (to, each) -> {
          to.id(each.getKey());
          all(to, each.getValue(), MessageCodec::write);
        });
    write(out, promote.copies());
    all(
        out,
        promote.routes().entrySet(),
        (to, each) -> {
          Route route = each.getValue();
          write(
              write(to, each.getKey()).id(route.object()).u8(route.course() == Course.UP ? 0 : 1),
              route.to());
        });
  }

  private static <T> void all(Encoder out, java.util.Collection<T> some, Writing<T> writing) {
    out.varint(some.size());
    for (T each : some) writing.write(out, each);
  }

  static Encoder write(Encoder out, NodeId node) {
    return out.text(node.address()).varint(node.number());
  }

  static Encoder write(Encoder out, Locality locality) {
    return out.text(locality.toString());
  }

  static void optional(Encoder out, @Nullable NodeId node) {
    if (node == null) out.u8(0);
    else write(out.u8(1), node);
  }

  private static Encoder write(Encoder out, ReadId read) {
    return write(out, read.node()).varint(read.number()).varint(read.attempt());
  }

  private static Encoder write(Encoder out, CopyVersion version) {
    return out.varint(version.generation()).varint(version.number());
  }

  private static void write(Encoder out, Copy copy) {
    write(out.id(copy.object()), copy.version()).sized(copy.state());
  }

  private static void write(Encoder out, Upward upward) {
    all(out, upward.copies(), MessageCodec::write);
    all(out, upward.dependencies(), (to, each) -> to.id(each.object()).id(each.on()));
  }

  /// Reads a message.
  ///
  /// @throws MalformedException when there is none
  static Message read(Decoder in) {
    int kind = in.u8();
    return switch (kind) {
      case RETRIEVE -> new Message.Retrieve(in.id());
      case MIGRATE -> new Message.Migrate(in.id(), upward(in));
      case ASK -> new Message.Ask(readId(in), in.id());
      case REPLY -> new Message.Reply(readId(in), in.id(), upward(in));
      case ANSWER -> new Message.Answer(in.varint(), copy(in));
      case COPY_UP -> new Message.CopyUp(node(in), in.varint(), set(in, Decoder::id), upward(in));
      case DURABLE -> new Message.Durable(in.varint());
      case JOIN ->
          new Message.Join(
              node(in),
              locality(in),
              atMost(Message.Join.DETOUR_MAX, in.u8(), "detours"),
              set(in, Message.Join.AVOIDED_MAX, MessageCodec::node));
      case OFFER -> new Message.Offer(node(in));
      case ATTACH -> new Message.Attach(locality(in));
      case WELCOME -> new Message.Welcome();
      case MOVE -> new Message.Move();
      case DEPART -> new Message.Depart(upward(in));
      case HOLD -> new Message.Hold(in.varint(), node(in));
      case HOLDING -> new Message.Holding(in.varint(), versions(in));
      case RETURN -> new Message.Return(upward(in), versions(in));
      case KEPT -> new Message.Kept(versions(in));
      case RESUME -> new Message.Resume();
      case PROMOTE -> promote(in);
      case REPLACED -> new Message.Replaced(node(in));
      case FAREWELL -> new Message.Farewell();
      case DEPTH ->
          new Message.Depth(in.u8(), set(in, Message.Depth.LOCALITIES_MAX, MessageCodec::locality));
      case GREET -> new Message.Greet(either(in, Kin.PARENT, Kin.CHILD));
      default -> throw malformed("message " + kind);
    };
  }

  private static Message.Promote promote(Decoder in) {
    return new Message.Promote(
        optional(in),
        set(in, MessageCodec::node),
        map(in, Decoder::id, from -> list(from, MessageCodec::node)),
        upward(in),
        map(
            in,
            MessageCodec::readId,
            from -> new Route(from.id(), either(from, Course.UP, Course.OUT), node(from))));
  }

  private static MalformedException malformed(String what) {
    return new MalformedException(what + " is none that is known here");
  }

  /// Reads a 0 as the first, and a 1 as the second.
  static <T> T either(Decoder in, T first, T second) {
    return switch (in.u8()) {
      case 0 -> first;
      case 1 -> second;
      default -> throw malformed("what is neither " + first + " nor " + second);
    };
  }

  private static <T> List<T> list(Decoder in, Reading<T> reading) {
    int count = in.count();
    List<T> all = new ArrayList<>(Math.min(count, 1024));
    for (int i = 0; i < count; i++) all.add(reading.read(in));
    return all;
  }

  private static <T> SortedSet<T> set(Decoder in, Reading<T> reading) {
    return new TreeSet<>(list(in, reading));
  }

  private static <T> SortedSet<T> set(Decoder in, int most, Reading<T> reading) {
    int count = atMost(most, in.count(), "entries");
    SortedSet<T> all = new TreeSet<>();
    for (int i = 0; i < count; i++) all.add(reading.read(in));
    return all;
  }

  private static int atMost(int most, int count, String what) {
    if (count <= most) return count;
    throw new MalformedException("%d %s are more than %d".formatted(count, what, most));
  }

  private static <K, V> SortedMap<K, V> map(Decoder in, Reading<K> keys, Reading<V> values) {
    int count = in.count();
    SortedMap<K, V> all = new TreeMap<>();
    for (int i = 0; i < count; i++) all.put(keys.read(in), values.read(in));
    return all;
  }

  static void write(Encoder out, TypeRights rights) {
    all(out, rights.roles(), (to, types) -> all(to, types, Encoder::text));
  }

  static TypeRights rights(Decoder in) {
    return new TypeRights(list(in, role -> list(role, Decoder::text)));
  }

  static NodeId node(Decoder in) {
    return new NodeId(in.text(), in.varint());
  }

  static Locality locality(Decoder in) {
    String path = in.text();
    try {
      return path.isEmpty() ? Locality.UNKNOWN : Locality.of(path);
    } catch (IllegalArgumentException none) {
      throw new MalformedException(String.valueOf(none.getMessage()));
    }
  }

  static @Nullable NodeId optional(Decoder in) {
    return in.u8() == 0 ? null : node(in);
  }

  private static ReadId readId(Decoder in) {
    return new ReadId(node(in), in.varint(), in.varint());
  }

  private static CopyVersion version(Decoder in) {
    return new CopyVersion(in.varint(), in.varint());
  }

  private static Copy copy(Decoder in) {
    return new Copy(in.id(), version(in), in.sized());
  }

  private static Upward upward(Decoder in) {
    return new Upward(
        list(in, MessageCodec::copy), list(in, from -> new Dependency(from.id(), from.id())));
  }
}
