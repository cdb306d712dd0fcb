package stoa.raft.node;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.MemberNetwork;
import stoa.transport.Channel;
import stoa.transport.ConnectionLimits;
import stoa.transport.Network;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;

/// The messages of all groups between this node and others. Thread-safe.
///
/// Messages may be lost, as when a connection ends or a queue is full, but not damaged or forged.
/// One connection to each other node carries what this one sends, and one from it what it receives.
final class MemberLinks implements AutoCloseable {
  /*
   * A connection has one stream, whose messages are: of the group the store i64 and the number i32,
   * then the message of the group. The receiving end sends none. A connection on which nothing is
   * heard for a second is given up: the network may have lost it without a word, and would try for
   * minutes to repeat what was lost. When a connection ends by itself, the next one is made at once,
   * which tells whether the other node's process has ended: then nothing listens there.
   */
  private static final Logger LOG = LoggerFactory.getLogger(MemberLinks.class);
  static final String METHOD = "raft";
  private static final int HEADER = 12;
  private static final int MESSAGE_BYTES_MAX = 64 << 20;

  // The most bytes that wait for one node; one more ends the stream, and they are lost.
  private static final long WAITING_BYTES_MAX = 2L * MESSAGE_BYTES_MAX;

  private static final ConnectionLimits LIMITS =
      ConnectionLimits.DEFAULT
          .withMessageBytesMax(HEADER + MESSAGE_BYTES_MAX)
          .withQueuedBytesMax(WAITING_BYTES_MAX)
          .withStreamsMax(2)
          .withSilence(Duration.ofMillis(250), Duration.ofMillis(750))
          .withArrivals(Duration.ofSeconds(10), 32);

  // How many messages a receiving end asks for at a time.
  private static final int ASKED = 1 << 20;

  private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  // How many times to look whether the other node is there: the process that ends may still take a
  // connection or two.
  private static final int LOOKS_MAX = 10;

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(AGAIN_NANOS, TimeUnit.NANOSECONDS);

  /// Receives messages for groups.
  interface Receiving {
    /// Receives a message for a group. It must not wait.
    void receive(GroupId group, byte[] message);

    /// Notes that nothing listens any more where another node was, so that its process has ended.
    /// It must not wait.
    default void ended(String node) {}
  }

  private final MemberNetwork network;
  private final Receiving receiving;
  private final Network.Listening listening;
  private final ConcurrentHashMap<String, Link> links = new ConcurrentHashMap<>();
  private volatile boolean closed;

  MemberLinks(MemberNetwork network, String host, int port, Receiving receiving)
      throws IOException {
    this.network = network;
    this.receiving = receiving;
    this.listening = network.listen(host, port, LIMITS, this::begin);
  }

  /// Returns the port on which it listens.
  int port() {
    return listening.port();
  }

  /// Sends a message. Does not wait.
  void send(Member to, GroupId group, byte[] message) {
    if (!closed) links.computeIfAbsent(to.id(), Link::new).send(to, group, message);
  }

  // ---- receiving

  private Receiver begin(String from, Stream stream) throws IOException {
    if (!stream.method().equals(METHOD)) throw new IOException("no messages of groups");
    stream.request(ASKED);
    return new Inbound(from, stream);
  }

  /// Hears the messages of another node.
  private final class Inbound implements Receiver {
    private final String from;
    private final Stream stream;
    private int left = ASKED;

    Inbound(String from, Stream stream) {
      this.from = from;
      this.stream = stream;
    }

    @Override
    public void message(byte[] message) {
      if (message.length < HEADER || !network.reaches(from)) {
        stream.cancel(Status.of(Status.Code.UNAVAILABLE, "it is not heard"));
        return;
      }
      if (--left == 0) {
        left = ASKED;
        stream.request(ASKED);
      }
      var header = ByteBuffer.wrap(message);
      var group = new GroupId(header.getLong(), header.getInt());
      receiving.receive(group, Arrays.copyOfRange(message, HEADER, message.length));
    }

    @Override
    public void over(Status status) {
      LOG.debug("another node has left: {}", status);
    }
  }

  // ---- sending

  /// The way to one other node.
  private final class Link {
    private final String id;

    // Guarded by this.
    private @Nullable Member to;
    private @Nullable Channel channel;
    private @Nullable Stream stream;
    // It learns of the end of the stream.
    private @Nullable Ended ending;
    private long endedNanos = System.nanoTime() - AGAIN_NANOS;

    // How many times it has looked for the other node since it reached that last.
    private int looks = LOOKS_MAX;

    Link(String id) {
      this.id = id;
    }

    void send(Member member, GroupId group, byte[] message) {
      Stream open = open(member);
      if (open == null) return; // lost, as a message may be
      byte[] whole = new byte[HEADER + message.length];
      ByteBuffer.wrap(whole).putLong(group.store()).putInt(group.number()).put(message);
      open.send(whole);
    }

    private synchronized @Nullable Stream open(Member member) {
      if (!network.reaches(id)) {
        end();
        return null;
      }
      if (!leadsTo(member)) {
        end();
        to = member;
      }
      Stream known = stream;
      if (known != null && !known.isOver()) return known;
      if (closed || System.nanoTime() - endedNanos < AGAIN_NANOS) return null;
      Channel way = channel;
      if (way == null) {
        Member place = requireNonNull(to, "it leads to where a member is");
        way = network.channel(place, place.port(), LIMITS);
        channel = way;
      }
      return begin(way);
    }

    private Stream begin(Channel way) {
      ending = new Ended(this);
      Stream begun = way.open(METHOD, ending);
      stream = begun;
      return begun;
    }

    /// Returns whether the way leads to where a member is. A member whose host is unknown is where
    /// it was. One that is known with its address for clients and without it is one place: groups
    /// and messages tell of members in both forms.
    private boolean leadsTo(Member member) {
      Member known = to;
      if (known == null) return false;
      if (member.host().equals("-")) return true;
      return member.host().equals(known.host()) && member.port() == known.port();
    }

    synchronized void reached(Ended which) {
      if (which.equals(ending)) looks = 0;
    }

    void ended(Ended which, Status why) {
      LOG.debug("{} is not reached: {}", id, why);
      if (note(which, why.isNobodyThere()) && why.isNobodyThere()) receiving.ended(id);
    }

    private synchronized boolean note(Ended which, boolean isNobodyThere) {
      if (!which.equals(ending)) return false;
      stream = null;
      endedNanos = System.nanoTime();
      if (isNobodyThere || looks == LOOKS_MAX) return true;
      looks++;
      if (looks == 1) look(which);
      else LATER.execute(() -> look(which));
      return true;
    }

    /// Connects again, unless that was done since a stream has ended.
    private synchronized void look(Ended after) {
      Channel way = channel;
      if (!after.equals(ending) || way == null || closed) return;
      var _ = begin(way);
    }

    private void end() {
      if (channel != null) channel.cut();
      channel = null;
      stream = null;
      ending = null;
    }

    synchronized void close() {
      end();
    }
  }

  /// Learns that a stream has reached the other node, and that it has ended.
  private static final class Ended implements Receiver {
    private final Link link;

    Ended(Link link) {
      this.link = link;
    }

    @Override
    public void message(byte[] message) {
      // The other end sends none.
    }

    @Override
    public void ready() {
      link.reached(this);
    }

    @Override
    public void over(Status status) {
      link.ended(this, status);
    }
  }

  @Override
  public void close() {
    closed = true;
    listening.close();
    links.values().forEach(Link::close);
  }
}
