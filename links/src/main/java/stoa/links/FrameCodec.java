package stoa.links;

import stoa.base.Decoder;
import stoa.base.Decoder.MalformedException;
import stoa.base.Encoder;
import stoa.migration.core.CostModel;
import stoa.migration.core.Message;
import stoa.migration.core.TreeNode;
import stoa.migration.core.TreeNode.Retrieval;

/// Frames as bytes. Stateless.
///
/// ```
/// frame:     u8, its kind; the version as varint, of a first frame; its parts as in Frame
/// ticket:    varint, the number of the seal; its code after its length
/// updates:   u8 1 at the server; as varints count, nanos, computed, computeNanos, stateBytes + 1, moves
/// settings:  varint childrenMax, u8 retrieval
/// refusal:   u8 its number in LendingRefusal
/// ```
final class FrameCodec {
  private static final int GREETING = 1;
  private static final int SAID = 2;
  private static final int REGISTER = 3;
  private static final int REGISTERED = 4;
  private static final int PASS = 5;
  private static final int SEAL = 6;
  private static final int RELAYED = 7;
  private static final int NAMED = 8;
  private static final int STANDING = 9;
  private static final int BEAT = 10;
  private static final int SIDE = 11;
  private static final int RAN = 12;
  private static final int MOVE_TO_CLIENTS = 13;
  private static final int BORROW = 14;
  private static final int LET_GO = 15;
  private static final int REFUSED = 16;
  private static final int CREDENTIALS = 17;

  private static final int COUNT_MAX = 1_000_000;

  private FrameCodec() {}

  static Encoder write(Frame frame) {
    var out = new Encoder(64);
    switch (frame) {
      case Frame.Greeting(int version, var from, var to, var ticket) -> {
        MessageCodec.write(out.u8(GREETING).varint(version), from);
        ticket(MessageCodec.write(out, to), ticket);
      }
      case Frame.Delivery(Message message) -> MessageCodec.write(out.u8(SAID), message);
      case Frame.Register(
              int version,
              String address,
              String name,
              String domain,
              var locality) -> {
        out.u8(REGISTER).varint(version).text(address).text(name).text(domain);
        MessageCodec.write(out, locality);
      }
      case Frame.Registered(
              int version,
              var root,
              var settings,
              long leaseMillis,
              var locality) -> {
        MessageCodec.write(out.u8(REGISTERED).varint(version), root)
            .varint(settings.childrenMax())
            .u8(settings.retrieval() == Retrieval.ONE_BY_ONE ? 0 : 1)
            .varint(leaseMillis);
        MessageCodec.write(out, locality);
      }
      case Frame.Pass(var ticket) -> ticket(out.u8(PASS), ticket);
      case Frame.Seal(long number, byte[] key) -> out.u8(SEAL).varint(number).sized(key);
      case Frame.Relayed(var from, var to, var message) -> {
        MessageCodec.write(out.u8(RELAYED), from);
        MessageCodec.write(MessageCodec.write(out, to), message);
      }
      case Frame.Named(String type, byte[] key) -> out.u8(NAMED).text(type).sized(key);
      case Frame.Side(var object, boolean atServer) -> out.u8(SIDE).id(object).u8(atServer ? 1 : 0);
      case Frame.Ran(var object, var updates) -> updates(out.u8(RAN).id(object), updates);
      case Frame.MoveToClients(var object) -> out.u8(MOVE_TO_CLIENTS).id(object);
      case Frame.Borrow(var object, String type, byte[] key) ->
          out.u8(BORROW).id(object).text(type).sized(key);
      case Frame.LetGo(var object) -> out.u8(LET_GO).id(object);
      case Frame.Refused(var object, var refusal, String message) ->
          out.u8(REFUSED).id(object).u8(refusal.number()).message(message);
      case Frame.Credentials(var rights) -> MessageCodec.write(out.u8(CREDENTIALS), rights);
      case Frame.Position(var node, var parent, int children, int owned) -> {
        MessageCodec.optional(MessageCodec.write(out.u8(STANDING), node), parent);
        out.varint(children).varint(owned);
      }
      case Frame.Beat(long stamp, long echo, long age) ->
          out.u8(BEAT).i64(stamp).i64(echo).i64(age);
    }
    return out;
  }

  private static void ticket(Encoder out, Tickets.Ticket ticket) {
    out.varint(ticket.number()).sized(ticket.code());
  }

  /// Reads a frame.
  ///
  /// @throws MalformedException when the bytes are not a frame
  static Frame read(byte[] bytes) {
    var in = new Decoder(bytes);
    Frame frame = read(in);
    if (in.remaining() > 0) throw new MalformedException(in.remaining() + " bytes too many");
    return frame;
  }

  private static Frame read(Decoder in) {
    int kind = in.u8();
    return switch (kind) {
      case GREETING ->
          new Frame.Greeting(version(in), MessageCodec.node(in), MessageCodec.node(in), ticket(in));
      case SAID -> new Frame.Delivery(MessageCodec.read(in));
      case REGISTER ->
          new Frame.Register(
              version(in), in.text(), in.text(), in.text(), MessageCodec.locality(in));
      case REGISTERED ->
          new Frame.Registered(
              version(in),
              MessageCodec.node(in),
              settings(in),
              in.varint(),
              MessageCodec.locality(in));
      case PASS -> new Frame.Pass(ticket(in));
      case SEAL -> new Frame.Seal(in.varint(), in.sized());
      case RELAYED -> {
        var from = MessageCodec.node(in);
        var to = MessageCodec.node(in);
        if (MessageCodec.read(in) instanceof Message.Direct direct) {
          yield new Frame.Relayed(from, to, direct);
        }
        throw new MalformedException("only neighbors say that to each other");
      }
      case NAMED -> new Frame.Named(in.text(), in.sized());
      case STANDING ->
          new Frame.Position(
              MessageCodec.node(in),
              MessageCodec.optional(in),
              (int) in.varint(),
              (int) in.varint());
      case BEAT -> new Frame.Beat(in.i64(), in.i64(), in.i64());
      case SIDE -> new Frame.Side(in.id(), MessageCodec.either(in, false, true));
      case RAN -> new Frame.Ran(in.id(), updates(in));
      case MOVE_TO_CLIENTS -> new Frame.MoveToClients(in.id());
      case BORROW -> new Frame.Borrow(in.id(), in.text(), in.sized());
      case LET_GO -> new Frame.LetGo(in.id());
      case REFUSED -> new Frame.Refused(in.id(), LendingRefusal.of(in.u8()), in.text());
      case CREDENTIALS -> new Frame.Credentials(MessageCodec.rights(in));
      default -> throw new MalformedException("frame " + kind + " is none that is known here");
    };
  }

  private static void updates(Encoder out, CostModel.Updates updates) {
    out.u8(updates.atServer() ? 1 : 0)
        .varint(updates.count())
        .varint(updates.nanos())
        .varint(updates.computed())
        .varint(updates.computeNanos())
        .varint(updates.stateBytes() + 1)
        .varint(updates.moves());
  }

  private static CostModel.Updates updates(Decoder in) {
    return new CostModel.Updates(
        MessageCodec.either(in, false, true),
        count(in),
        in.varint(),
        count(in),
        in.varint(),
        in.varint() - 1,
        count(in));
  }

  private static int count(Decoder in) {
    long count = in.varint();
    if (count < 0 || count > COUNT_MAX) throw new MalformedException(count + " calls");
    return (int) count;
  }

  private static int version(Decoder in) {
    long version = in.varint();
    if (version >= Frame.OLDEST && version <= Frame.NEWEST) return (int) version;
    throw new MalformedException(
        "the other side speaks version "
            + version
            + " of the tree's protocol, this one "
            + Frame.OLDEST
            + " to "
            + Frame.NEWEST
            + "; use the same version of Stoa");
  }

  private static TreeNode.Settings settings(Decoder in) {
    int childrenMax = (int) in.varint();
    if (childrenMax < 1) throw new MalformedException("nodes of " + childrenMax + " children");
    var retrieval = MessageCodec.either(in, Retrieval.ONE_BY_ONE, Retrieval.AHEAD);
    return new TreeNode.Settings(childrenMax, retrieval);
  }

  private static Tickets.Ticket ticket(Decoder in) {
    return new Tickets.Ticket(in.varint(), in.sized());
  }
}
