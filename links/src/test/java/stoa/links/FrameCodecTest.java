package stoa.links;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.base.Decoder;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.CostModel;
import stoa.migration.core.Dependency;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.migration.core.Upward;

/// Frames are what they were after a journey; other bytes are refused, whatever they are.
class FrameCodecTest {
  private final Random random = new Random(7);

  private NodeId node() {
    return new NodeId("tcp://10.0.0." + random.nextInt(9) + ":1/x", random.nextLong());
  }

  private Locality locality() {
    return Locality.of("rack-" + random.nextInt(9) + "/host-" + random.nextInt(9));
  }

  private StreamId stream() {
    return new StreamId(random.nextLong(), random.nextLong());
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    return bytes;
  }

  private CopyVersion version() {
    return new CopyVersion(random.nextLong(), random.nextLong());
  }

  private Copy copy() {
    return new Copy(stream(), version(), bytes());
  }

  private Upward upward() {
    return new Upward(List.of(copy(), copy()), List.of(new Dependency(stream(), stream())));
  }

  private Message.ReadId read() {
    return new Message.ReadId(node(), random.nextLong(), random.nextLong());
  }

  private List<Message> messages() {
    SortedMap<StreamId, CopyVersion> has = new TreeMap<>();
    has.put(stream(), version());
    SortedMap<StreamId, List<NodeId>> queues = new TreeMap<>();
    queues.put(stream(), List.of(node(), node()));
    SortedMap<Message.ReadId, Message.Route> routes = new TreeMap<>();
    routes.put(read(), new Message.Route(stream(), Message.Course.OUT, node()));
    SortedSet<NodeId> nodes = new TreeSet<>(List.of(node(), node()));
    return List.of(
        new Message.Retrieve(stream()),
        new Message.Migrate(stream(), upward()),
        new Message.Ask(read(), stream()),
        new Message.Reply(read(), stream(), upward()),
        new Message.Answer(random.nextLong(), copy()),
        new Message.CopyUp(node(), random.nextLong(), new TreeSet<>(has.keySet()), upward()),
        new Message.Durable(random.nextLong()),
        new Message.Join(node(), locality(), random.nextInt(4), nodes),
        new Message.Offer(node()),
        new Message.Attach(locality()),
        new Message.Welcome(),
        new Message.Move(),
        new Message.Depart(upward()),
        new Message.Hold(random.nextLong(), node()),
        new Message.Holding(random.nextLong(), has),
        new Message.Resume(),
        new Message.Promote(node(), nodes, queues, upward(), routes),
        new Message.Promote(null, new TreeSet<>(), queues, upward(), routes),
        new Message.Replaced(node()),
        new Message.Farewell(),
        new Message.Greet(Message.Kin.PARENT),
        new Message.Depth(random.nextInt(256), new TreeSet<>(List.of(locality(), locality()))));
  }

  private List<Frame> frames() {
    var ticket = new Tickets.Ticket(random.nextLong(), bytes());
    List<Frame> all = new ArrayList<>();
    for (var message : messages()) {
      all.add(new Frame.Delivery(message));
      if (message instanceof Message.Direct direct) {
        all.add(new Frame.Relayed(node(), node(), direct));
      }
    }
    all.add(new Frame.Greeting(node(), node(), ticket));
    all.add(new Frame.Register("leaf://1", "some process", "default", locality()));
    all.add(new Frame.Register("leaf://1", "some process", "default", Locality.UNKNOWN));
    var settings = new TreeNode.Settings(5, TreeNode.Retrieval.AHEAD);
    all.add(new Frame.Registered(node(), settings, 5_000, locality()));
    all.add(new Frame.Pass(ticket));
    all.add(new Frame.Seal(3, bytes()));
    all.add(new Frame.Named("some.Type", bytes()));
    all.add(new Frame.Position(node(), node(), 2, 3));
    all.add(new Frame.Position(node(), null, 0, 0));
    all.add(new Frame.Beat(random.nextLong(), random.nextLong(), random.nextLong()));
    all.add(new Frame.Side(stream(), true));
    all.add(new Frame.Ran(stream(), new CostModel.Updates(true, 3, 500, 2, 70, -1, 1)));
    all.add(new Frame.MoveToClients(stream()));
    return all;
  }

  @Test
  void framesAreWhatTheyWere() {
    for (var frame : frames()) {
      byte[] bytes = FrameCodec.write(frame).toBytes();
      var read = FrameCodec.read(bytes);
      assertEquals(frame.getClass(), read.getClass());
      assertArrayEquals(bytes, FrameCodec.write(read).toBytes(), frame::toString);
    }
  }

  @Test
  void bytesThatAreNoFrameAreRefused() {
    int read = 0;
    for (int round = 0; round < 200; round++) {
      for (var frame : frames()) {
        byte[] bytes = FrameCodec.write(frame).toBytes();
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(3)) {
          case 0 -> bytes[at] = (byte) random.nextInt();
          case 1 -> bytes = Arrays.copyOf(bytes, at);
          default -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(9));
        }
        try {
          var _ = FrameCodec.read(bytes);
          read++;
        } catch (Decoder.MalformedException refused) {
          // As it is to be; any other exception fails.
        }
      }
    }
    assertTrue(read > 0, "some bytes are a frame nevertheless");
  }

  @Test
  void anotherVersionIsRefusedWithWordsThatSaySo() {
    var register = new Frame.Register("leaf://1", "x", "default", Locality.UNKNOWN);
    byte[] bytes = FrameCodec.write(register).toBytes();
    bytes[1] = 9;
    var refused = assertThrows(Decoder.MalformedException.class, () -> FrameCodec.read(bytes));
    assertTrue(refused.toString().contains("version 9"), refused::toString);
  }

  @Test
  void aLocalityThatIsNoneIsRefused() {
    var register = new Frame.Register("leaf://1", "x", "default", Locality.of("a/b"));
    byte[] bytes = FrameCodec.write(register).toBytes();
    bytes[bytes.length - 1] = '/';
    var refused = assertThrows(Decoder.MalformedException.class, () -> FrameCodec.read(bytes));
    assertTrue(refused.toString().contains("a//"), refused::toString);
  }

  @Test
  void moreLocalitiesThanThereMayBeAreRefused() {
    var all = new TreeSet<Locality>();
    while (all.size() <= Message.Depth.LOCALITIES_MAX) all.add(Locality.of("host-" + all.size()));
    var refused = refused(new Message.Depth(1, all));
    assertTrue(refused.contains("65 entries are more than 64"), refused);
  }

  @Test
  void aJoinThatGoesTooFarOrAvoidsTooManyIsRefused() {
    var all = new TreeSet<NodeId>();
    for (int i = 0; i <= Message.Join.AVOIDED_MAX; i++) all.add(new NodeId("node", i));
    var many = refused(new Message.Join(node(), locality(), 0, all));
    assertTrue(many.contains("17 entries are more than 16"), many);
    var far = refused(new Message.Join(node(), locality(), 4, new TreeSet<>()));
    assertTrue(far.contains("4 detours are more than 3"), far);
  }

  private static String refused(Message message) {
    byte[] bytes = FrameCodec.write(new Frame.Delivery(message)).toBytes();
    return assertThrows(Decoder.MalformedException.class, () -> FrameCodec.read(bytes)).toString();
  }

  @Test
  void whoComesFromThisMachineIsAtOnePlaceWhateverItsAddress() throws Exception {
    var near = InetAddress.getLoopbackAddress();
    var outer = InetAddress.getByName("10.0.0.7");
    var other = InetAddress.getByName("fe80::7%1");
    assertEquals(PeerLocality.of(near, near), PeerLocality.of(outer, outer));
    assertEquals(PeerLocality.of(near, near), PeerLocality.of(near, null));
    assertEquals(Locality.of("10.0.0.7"), PeerLocality.of(outer, near));
    assertEquals(Locality.of("fe80:0:0:0:0:0:0:7"), PeerLocality.of(other, near));
  }

  @Test
  void aTicketIsForOneAddressAndWhileItsSealCounts() {
    var root = new Tickets();
    var inner = new Tickets();
    inner.learn(root.next());
    var ticket = root.of("leaf://1");
    assertTrue(inner.isGood(ticket, "leaf://1"));
    assertFalse(inner.isGood(ticket, "leaf://2"));
    assertFalse(inner.isGood(new Tickets.Ticket(9, ticket.code()), "leaf://1"));
    for (int i = 1; i < Tickets.KEPT; i++) inner.learn(root.next());
    assertTrue(inner.isGood(ticket, "leaf://1"));
    inner.learn(root.next());
    assertFalse(inner.isGood(ticket, "leaf://1"));
    assertTrue(inner.isGood(root.of("leaf://1"), "leaf://1"));
    assertInstanceOf(Frame.Seal.class, root.last());
  }
}
