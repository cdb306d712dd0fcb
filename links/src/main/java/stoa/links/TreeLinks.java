package stoa.links;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.migration.Links;
import stoa.migration.Mailbox;
import stoa.migration.core.Event;
import stoa.migration.core.Mandate;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.transport.Status;

/// Connections between nodes of this process and nodes of others, each a stream of its own.
/// Thread-safe.
///
/// A child connects to its parent; in the other direction, messages wait until it has. Silence
/// beyond the lease ends a connection, and so does every failure. The other side refuses later
/// messages, since a node never connects to the same one twice.
///
/// The answer of a strict read goes down by the connections on which the question has come up, from
/// the highest node of its path. Where one of these is missing or of an earlier version, the root's
/// process passes the answer on.
final class TreeLinks implements Links {
  /// The part of the network outside these links. Called without locks.
  interface Network {
    /// Begins to connect to the process of a node; null when that is not possible.
    @Nullable Pipe dial(NodeId to, Pipe.Listener listener);

    /// Returns the ticket by which that process admits this one.
    Tickets.@Nullable Ticket ticket();

    /// Returns the version of the frames between this process and a node.
    int version(NodeId to);

    /// Passes on a message outside of the tree.
    void pass(NodeId from, NodeId to, Message.Direct message);
  }

  private static final Logger LOG = LoggerFactory.getLogger(TreeLinks.class);

  // The most nodes of earlier connections that a node remembers.
  private static final int ENDED_MAX = 4096;

  // The most messages that wait for a node to connect.
  private static final int EARLY_MAX = 10_000;

  // The most readers of which a node remembers the connection.
  private static final int READERS_MAX = 4096;

  /// The number of signs of life that each side sends in a lease.
  static final int BEATS = 10;

  /// The entries that came last.
  private static final class Latest<V> extends LinkedHashMap<NodeId, V> {
    private static final long serialVersionUID = 1L;

    private final int entriesMax;

    private Latest(int entriesMax) {
      this.entriesMax = entriesMax;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<NodeId, V> eldest) {
      return size() > entriesMax;
    }
  }

  /// A node of this process.
  private static final class Own {
    private final NodeId id;
    private final Inbox inbox;
    private final Mailbox mailbox;
    private final Mandate mandate = new Mandate(Mandate.LENGTH_NANOS);
    private final Map<NodeId, Link> links = new TreeMap<>();
    // Children whose connections broke, until they certainly have no mandate.
    private final Map<NodeId, Ending> endings = new TreeMap<>();
    private final Map<NodeId, Boolean> ended = new Latest<>(ENDED_MAX);
    // The children below which strict reads began, by the nodes that read.
    private final Map<NodeId, NodeId> readers = new Latest<>(READERS_MAX);

    private Own(NodeId id, Inbox inbox) {
      this.id = id;
      this.inbox = inbox;
      this.mailbox = new Mailbox(broken -> LOG.warn("an event of {} was not taken", id, broken));
    }
  }

  /// A connection of one of them. The lock of the links guards its fields, except `told`.
  private static final class Link {
    private final Own own;
    private final NodeId other;
    private final long beganNanos = System.nanoTime();
    private final Deque<Message> early = new ArrayDeque<>();
    private @Nullable Pipe pipe;
    private boolean taken;
    // The version of its frames; written before `pipe`.
    private int version;
    // Whether it leads to a parent, which says how old the mandate is.
    private volatile boolean isUp;
    private long beatNanos = System.nanoTime();
    // Of the mailbox: whether the end was reported.
    private boolean told;

    private Link(Own own, NodeId other) {
      this.own = own;
      this.other = other;
    }
  }

  private record Ending(Link link, long dueNanos) {}

  private final Network network;
  private final long leaseNanos;
  private final long beatNanos;
  private final Map<NodeId, Own> nodes = new TreeMap<>(); // guarded by this

  TreeLinks(Network network, long leaseNanos) {
    this.network = network;
    this.leaseNanos = leaseNanos;
    beatNanos = Math.min(leaseNanos / BEATS, Mandate.LENGTH_NANOS / 5);
  }

  // ---- for the nodes of this process

  @Override
  public synchronized void open(NodeId node, Inbox inbox) {
    nodes.put(node, new Own(node, inbox));
  }

  @Override
  public void close(NodeId node) {
    List<Pipe> pipes = new ArrayList<>();
    synchronized (this) {
      Own own = nodes.remove(node);
      if (own == null) return;
      for (var link : own.links.values()) {
        if (link.pipe != null) pipes.add(link.pipe);
      }
    }
    pipes.forEach(Pipe::finish);
  }

  @Override
  public void send(NodeId from, NodeId to, Message message) {
    Link link;
    Pipe pipe;
    boolean refused = false;
    synchronized (this) {
      Own own = nodes.get(from);
      if (own == null || own.endings.containsKey(to)) return;
      Link known = own.links.get(to);
      boolean isNew = known == null && !own.ended.containsKey(to);
      link = known != null ? known : new Link(own, to);
      if (isNew) own.links.put(to, link);
      refused = known == null && !isNew;
      pipe = link.pipe;
      if (pipe == null && !refused && !(isNew && message.connects())) {
        link.early.add(message);
        refused = link.early.size() > EARLY_MAX;
        if (!refused) return;
      }
    }
    if (refused) {
      end(link, Status.of(Status.Code.RESOURCE_EXHAUSTED, "it takes nothing"));
    } else if (pipe == null) {
      connect(link, message);
    } else {
      say(link, pipe, message);
    }
  }

  /// A child of an earlier version cannot return to the next root, and is not told that it may.
  private void say(Link link, Pipe pipe, Message message) {
    int version;
    synchronized (this) {
      version = link.version;
    }
    if (message instanceof Message.Kept && version < Frame.NEWEST) return;
    pipe.send(new Frame.Delivery(message));
  }

  /// Called by the one thread that works for the node, so that nothing overtakes.
  private void connect(Link link, Message first) {
    link.isUp = true;
    var ticket = network.ticket();
    Pipe pipe = ticket == null ? null : network.dial(link.other, new Listening(link));
    if (pipe == null || ticket == null) {
      if (pipe != null) pipe.cut(Status.of(Status.Code.CANCELLED, "it is over"));
      end(link, Status.of(Status.Code.UNAVAILABLE, "there is no way to " + link.other));
      return;
    }
    boolean still;
    synchronized (this) {
      still = link.own.links.get(link.other) == link;
      link.pipe = pipe;
    }
    int version = network.version(link.other);
    pipe.send(new Frame.Greeting(version, link.own.id, link.other, ticket));
    pipe.send(new Frame.Delivery(first));
    pipe.beat(null);
    if (!still) pipe.cut(Status.of(Status.Code.CANCELLED, "it has ended"));
  }

  @Override
  public void tell(NodeId from, NodeId to, Message.Direct message) {
    Pipe below = message instanceof Message.Answer ? towards(from, to) : null;
    if (below == null) network.pass(from, to, message);
    else below.send(new Frame.Relayed(from, to, message));
  }

  /// Returns the connection by which a strict read has come; null when there is none, or none that
  /// takes answers. A node in the server has connections to all processes.
  private synchronized @Nullable Pipe towards(NodeId from, NodeId reader) {
    Own own = nodes.get(from);
    NodeId child = own == null || isInServer(from) ? null : own.readers.get(reader);
    Link link = own == null || child == null ? null : own.links.get(child);
    return link == null || link.version < Frame.NEWEST ? null : link.pipe;
  }

  private static boolean isInServer(NodeId node) {
    return !node.address().contains("://");
  }

  /// Passes on the answer of a strict read that came from the parent of a node.
  private void passOn(Link link, NodeId to, Message.Answer answer) {
    if (!deliver(link.other, to, answer)) tell(link.own.id, to, answer);
  }

  private synchronized void reads(Link link, NodeId reader) {
    var _ = link.own.readers.remove(reader); // it becomes the latest
    link.own.readers.put(reader, link.other);
  }

  @Override
  public void cut(NodeId from, NodeId to) {
    Link link;
    synchronized (this) {
      Own own = nodes.get(from);
      if (own == null) return;
      own.endings.remove(to);
      Link known = own.links.get(to);
      link = known == null ? new Link(own, to) : known;
    }
    end(link, Status.of(Status.Code.CANCELLED, from + " knows " + to + " no more"));
  }

  private void end(Link link, Status why) {
    close(link, why, false);
    post(link, new Event.Gone(link.other));
  }

  /// Closes it, and perhaps notifies its node later.
  private void close(Link link, Status why, boolean later) {
    LOG.debug("the connection of {} and {} is over: {}", link.own.id, link.other, why);
    Pipe pipe;
    synchronized (this) {
      boolean isNews = link.own.links.remove(link.other, link);
      link.own.ended.put(link.other, true);
      pipe = link.pipe;
      link.early.clear();
      if (later && isNews) {
        var ending = new Ending(link, System.nanoTime() + Mandate.LENGTH_NANOS);
        link.own.endings.put(link.other, ending);
      }
    }
    if (pipe != null) pipe.cut(why);
  }

  /// Delivers the events before the end, and none after it.
  private void post(Link link, Event event) {
    Own own = link.own;
    own.mailbox.put(() -> {
      if (link.told) return;
      if (event instanceof Event.Gone) link.told = true;
      own.inbox.on(event);
    });
  }

  // ---- for the network

  /// Takes a message that was passed on; no effect when there is no such node here.
  ///
  /// @return whether it is here
  boolean deliver(NodeId from, NodeId to, Message.Direct message) {
    Own own;
    synchronized (this) {
      own = nodes.get(to);
    }
    if (own == null) return false;
    own.mailbox.put(() -> own.inbox.on(new Event.Received(from, message)));
    return true;
  }

  /// Takes the stream of a node that connects.
  ///
  /// @return the receiver of its frames from now on; null when it was refused
  Pipe.@Nullable Listener accept(Pipe pipe, int version, NodeId from, NodeId to) {
    Link link = null;
    synchronized (this) {
      Own own = nodes.get(to);
      if (own != null && !own.ended.containsKey(from)) {
        Link known = own.links.computeIfAbsent(from, _ -> new Link(own, from));
        if (known.pipe == null && !known.taken) link = known;
        known.taken = true;
        known.version = version;
      }
    }
    if (link != null) {
      sayEarly(link, pipe);
      return new Listening(link);
    }
    pipe.cut(Status.of(Status.Code.NOT_FOUND, from + " is a stranger to " + to));
    return null;
  }

  private void sayEarly(Link link, Pipe pipe) {
    while (true) {
      Message next;
      synchronized (this) {
        next = link.early.poll();
        if (next == null) {
          link.pipe = pipe;
          return;
        }
      }
      say(link, pipe, next);
    }
  }

  private final class Listening implements Pipe.Listener {
    private final Link link;

    private Listening(Link link) {
      this.link = link;
    }

    @Override
    public void frame(Pipe pipe, Frame frame) {
      if (frame instanceof Frame.Delivery(Message message) && isForNeighbors(message)) {
        if (message instanceof Message.Ask ask && !link.isUp) reads(link, ask.read().node());
        post(link, new Event.Received(link.other, message));
      } else if (link.isUp && frame instanceof Frame.Relayed(_, NodeId to, Message.Answer answer)) {
        passOn(link, to, answer);
      } else {
        pipe.cut(Status.of(Status.Code.INVALID_ARGUMENT, "nodes say messages to each other"));
      }
    }

    /// Returns whether a message goes along the tree: of messages outside of the tree, requests for
    /// a place do.
    private static boolean isForNeighbors(Message message) {
      return message instanceof Message.Join || !(message instanceof Message.Direct);
    }

    @Override
    public void beat(Pipe pipe, Frame.Beat beat, boolean first) {
      if (link.isUp) heard(link.own, beat);
      else if (first) beats(List.of(link));
    }

    /*
     * A child whose connection broke, or a node below it, may still have a mandate and act on it.
     */
    @Override
    public void over(Pipe pipe, Status why) {
      if (link.isUp) end(link, why);
      else close(link, why, true);
    }
  }

  @Override
  public boolean isFresh(NodeId from, NodeId to) {
    Pipe pipe;
    synchronized (this) {
      Own own = nodes.get(from);
      Link link = own == null ? null : own.links.get(to);
      pipe = link == null ? null : link.pipe;
    }
    return pipe != null && pipe.staleNanos() < leaseNanos;
  }

  @Override
  public boolean isSure(NodeId node) {
    Own own;
    synchronized (this) {
      own = nodes.get(node);
    }
    return own != null && own.mandate.holds(System.nanoTime());
  }

  @Override
  public void confirmed(NodeId root, long askedNanos) {
    Own own;
    synchronized (this) {
      own = nodes.get(root);
    }
    if (own == null) return;
    own.mandate.confirmed(askedNanos);
    beats(below(own, false));
  }

  /// Takes the age of the mandate from the node above; those below learn it at once.
  private void heard(Own own, Frame.Beat beat) {
    long now = System.nanoTime();
    boolean before = own.mandate.holds(now);
    // Not beyond the moment when that node may end the connection, however long a part of it was in
    // transit.
    own.mandate.heard(beat.echo(), Math.max(beat.age(), Mandate.LENGTH_NANOS - leaseNanos));
    boolean renewed = !before && own.mandate.holds(now);
    beats(below(own, renewed));
    if (renewed) own.mailbox.put(own.inbox::renewed);
  }

  /// The connections to children that need a sign of life.
  private synchronized List<Link> below(Own own, boolean now) {
    long since = System.nanoTime() - beatNanos / 2;
    return own.links.values().stream()
        .filter(link -> !link.isUp && link.pipe != null && (now || link.beatNanos - since < 0))
        .toList();
  }

  private void beats(List<Link> some) {
    for (var link : some) {
      Pipe pipe;
      synchronized (this) {
        pipe = link.pipe;
        link.beatNanos = System.nanoTime();
      }
      if (pipe != null) pipe.beat(link.isUp ? null : link.own.mandate);
    }
  }

  /// Returns whether a connection is lost. A child may act on its objects until its own stamps are
  /// as old as the lease, which is when its parent has heard nothing for as long: the parent uses
  /// no other criterion.
  private boolean isLost(Link link, @Nullable Pipe pipe) {
    return link.isUp && pipe != null && pipe.staleNanos() > leaseNanos;
  }

  /// Ends silent connections, and sends signs of life everywhere. Call it a few times in each
  /// second.
  void tick() {
    List<Link> late = new ArrayList<>();
    List<Link> beating = new ArrayList<>();
    List<Link> ending = new ArrayList<>();
    long now = System.nanoTime();
    synchronized (this) {
      for (var own : nodes.values()) {
        for (var link : own.links.values()) {
          Pipe pipe = link.pipe;
          long silence = pipe == null ? now - link.beganNanos : pipe.silenceNanos();
          if (silence > leaseNanos || isLost(link, pipe)) {
            late.add(link);
          } else if (pipe != null && now - link.beatNanos > beatNanos) {
            beating.add(link);
          }
        }
        own.endings
            .values()
            .removeIf(each -> {
              boolean isDue = each.dueNanos - now < 0;
              if (isDue) ending.add(each.link);
              return isDue;
            });
      }
    }
    for (var link : late) {
      end(link, Status.of(Status.Code.DEADLINE_EXCEEDED, "nothing was heard within the lease"));
    }
    ending.forEach(link -> post(link, new Event.Gone(link.other)));
    beats(beating);
  }
}
