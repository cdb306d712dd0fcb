package stoa.links;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import stoa.Locality;
import stoa.TreeMembership;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// Nodes of several processes say messages to each other, over sockets.
@Timeout(20)
class TreeLinksTest {
  private static final StreamId OBJECT = new StreamId(0, 1);

  private final Tickets tickets = new Tickets();
  private final List<OneProcess> processes = new ArrayList<>();

  /* A process with one node. */
  private final class OneProcess implements TreeLinks.Network {
    private final PeerServer peers;
    private final PeerServer.Desk desk;
    private final NodeId node;
    private final TreeLinks links;
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    // The receivers of messages that it gave to the process of the root.
    private final BlockingQueue<NodeId> passed = new LinkedBlockingQueue<>();
    // The newest version with which it connects to others.
    private final int newest;

    private OneProcess(PeerServer peers, int newest) {
      this.peers = peers;
      this.newest = newest;
      desk = peers.open();
      desk.tickets().learn(tickets.last());
      node = new NodeId(desk.address(), 1);
      links = new TreeLinks(this, TimeUnit.SECONDS.toNanos(20));
      desk.serve(links);
      links.open(node, events::add);
      processes.add(this);
    }

    @Override
    public @Nullable Pipe dial(NodeId to, Pipe.Listener listener) {
      var channel = peers.to(to.address());
      return channel == null ? null : Pipe.to(listener).dial(channel);
    }

    @Override
    public Tickets.Ticket ticket() {
      return tickets.of(desk.address());
    }

    @Override
    public int version(NodeId to) {
      return Math.min(newest, Frame.versionOf(to.address()));
    }

    @Override
    public void pass(NodeId from, NodeId to, Message.Direct message) {
      passed.add(to);
    }

    private void attachTo(OneProcess parent) throws InterruptedException {
      links.send(node, parent.node, new Message.Attach(Locality.UNKNOWN));
      parent.requireNext(node, new Message.Attach(Locality.UNKNOWN));
      parent.links.send(parent.node, node, new Message.Welcome());
      requireNext(parent.node, new Message.Welcome());
    }

    private void requireNext(NodeId from, Message message) throws InterruptedException {
      assertEquals(new Event.Received(from, message), events.take());
    }
  }

  TreeLinksTest() {
    var _ = tickets.next();
  }

  private OneProcess inner() {
    return new OneProcess(
        PeerServer.inner(new TreeMembership.Inner("127.0.0.1", 0), null), Frame.NEWEST);
  }

  private OneProcess leaf(int newest) {
    return new OneProcess(PeerServer.leaf(null), newest);
  }

  @AfterEach
  void close() {
    for (var each : processes) {
      each.links.close(each.node);
      each.peers.close();
    }
  }

  /* A node below two others reads, and the answer comes from the highest one. */
  private Message.Answer readsThrough(OneProcess top, OneProcess middle, OneProcess reader)
      throws InterruptedException {
    middle.attachTo(top);
    reader.attachTo(middle);
    var ask = new Message.Ask(new Message.ReadId(reader.node, 7, 1), OBJECT);
    reader.links.send(reader.node, middle.node, ask);
    middle.requireNext(reader.node, ask);
    middle.links.send(middle.node, top.node, ask);
    top.requireNext(middle.node, ask);
    var answer = new Message.Answer(7, new Copy(OBJECT, new CopyVersion(1, 1), new byte[3]));
    top.links.tell(top.node, reader.node, answer);
    return answer;
  }

  @Test
  void theAnswerOfAStrictReadGoesDownTheTreeAndNotThroughTheRoot() throws Exception {
    var top = inner();
    var middle = inner();
    var reader = leaf(Frame.NEWEST);
    var answer = readsThrough(top, middle, reader);
    var received = (Event.Received) reader.events.take();
    assertEquals(answer.read(), ((Message.Answer) received.message()).read());
    assertEquals(0, top.passed.size() + middle.passed.size());
  }

  @Test
  void theRootPassesOnWhatAChildOfAnEarlierVersionDoesNotTake() throws Exception {
    var top = inner();
    var middle = inner();
    var reader = leaf(Frame.OLDEST);
    var _ = readsThrough(top, middle, reader);
    assertEquals(reader.node, middle.passed.take());
    assertEquals(0, top.passed.size());
  }

  @Test
  void anAnswerToANodeThatHasNotAskedGoesThroughTheRoot() throws Exception {
    var top = inner();
    var child = leaf(Frame.NEWEST);
    child.attachTo(top);
    var answer = new Message.Answer(7, new Copy(OBJECT, new CopyVersion(1, 1), new byte[3]));
    top.links.tell(top.node, child.node, answer);
    assertEquals(child.node, top.passed.take());
  }

  @Test
  void theAddressOfAProcessTellsWhichVersionItSpeaks() {
    assertEquals(Frame.NEWEST, Frame.versionOf(leaf(Frame.NEWEST).node.address()));
    assertEquals(Frame.NEWEST, Frame.versionOf(inner().node.address()));
    assertEquals(Frame.OLDEST, Frame.versionOf("tcp://127.0.0.1:7400/0123"));
    assertEquals(Frame.OLDEST, Frame.versionOf("leaf://0123"));
    assertEquals(Frame.OLDEST, Frame.versionOf("leaf://0123.x"));
    assertEquals(Frame.OLDEST, Frame.versionOf("leaf://0123.3"));
    assertEquals(Frame.NEWEST, Frame.versionOf("leaf://0123.99"));
  }
}
