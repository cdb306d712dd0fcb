package stoa.links;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.TreeMembership;
import stoa.Unavailable;
import stoa.migration.core.NodeId;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.ConnectionLimits;
import stoa.transport.Network;
import stoa.transport.Sockets;
import stoa.transport.Status;
import stoa.transport.Tls;

/// The port of this process for other processes of the tree, when it may be an inner node, and its
/// connections to them. Thread-safe.
public final class PeerServer implements AutoCloseable {
  private static final ConnectionLimits LIMITS =
      ConnectionLimits.DEFAULT
          .withMessageBytesMax(Pipe.PART_BYTES_MAX + 1)
          .withIdle(Duration.ofMinutes(1));
  private static final int CHANNELS_MAX = 64;
  private static final Logger LOG = LoggerFactory.getLogger(PeerServer.class);
  private static final String DIALING = "stoa-tree-network";
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long END_MILLIS = 500;

  /// The place of one tree's nodes in this process.
  static final class Desk {
    private final String address;
    private final Tickets tickets = new Tickets();
    private volatile @Nullable TreeLinks links;

    private Desk(String address) {
      this.address = address;
    }

    /// Returns the address of the nodes.
    String address() {
      return address;
    }

    /// Returns the tickets of processes that may connect.
    Tickets tickets() {
      return tickets;
    }

    void serve(TreeLinks own) {
      links = own;
    }
  }

  private final String place;
  private final Sockets sockets;

  // The port and what it reads with; null when there is none.
  private final @Nullable Sockets own;
  private final Network.@Nullable Listening port;

  private final Map<String, Desk> desks = new ConcurrentHashMap<>();
  private final Map<Address, Channel> channels = new ConcurrentHashMap<>();

  private PeerServer(@Nullable Path trusted) {
    sockets = dialing(trusted);
    own = null;
    port = null;
    place = NodeId.LEAF;
  }

  private PeerServer(TreeMembership.Inner inner, @Nullable Path trusted) {
    Path certificate = inner.certificate();
    Path key = inner.key();
    var tls =
        certificate == null || key == null ? null : Tls.client(context(certificate, key, null));
    var threads = Thread.ofPlatform().daemon().name("stoa-tree-port").factory();
    var listening = new Sockets(1, threads, tls);
    try {
      port =
          listening.listen(
              new Address(inner.host(), inner.port()),
              LIMITS,
              stream -> Pipe.of(stream, new Entering()));
      place = "tcp://" + new Address(inner.host(), port.port()) + "/";
    } catch (IOException e) {
      listening.close();
      throw new Unavailable(
          "nothing can listen on " + inner.host() + ":" + inner.port() + ": " + e.getMessage(), e);
    }
    own = listening;
    sockets = dialing(trusted);
  }

  /// Returns the sockets for other processes, which read the certificate again for each connection.
  private static Sockets dialing(@Nullable Path trusted) {
    if (trusted == null) return Sockets.client(DIALING, null);
    var _ = context(null, null, trusted);
    return Sockets.client(DIALING, new Tls(() -> context(null, null, trusted), false));
  }

  private static SSLContext context(
      @Nullable Path certificate, @Nullable Path key, @Nullable Path trusted) {
    try {
      return Tls.context(certificate, key, trusted);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "the certificate "
              + (certificate == null ? trusted : certificate)
              + " cannot be used: "
              + e.getMessage(),
          e);
    }
  }

  /// Returns the server of a process to which none connects.
  ///
  /// @param trusted the certificate that authenticates others; null without encryption
  public static PeerServer leaf(@Nullable Path trusted) {
    return new PeerServer(trusted);
  }

  /// Returns the server of a process to which others connect.
  ///
  /// @param trusted the certificate that authenticates others; null without encryption
  /// @throws Unavailable when the address is not available
  /// @throws IllegalArgumentException when a certificate is unusable
  public static PeerServer inner(TreeMembership.Inner inner, @Nullable Path trusted) {
    return new PeerServer(inner, trusted);
  }

  /// Unique among all processes, past and future.
  private static String token() {
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  /// Opens a place for the nodes of a tree.
  Desk open() {
    var desk = new Desk(place + token() + Frame.SPEAKS + Frame.NEWEST);
    desks.put(desk.address, desk);
    return desk;
  }

  /// Closes one.
  void close(Desk desk) {
    desks.remove(desk.address);
  }

  /// The receiver of a stream's frames: a node, when the first frame has named it.
  private final class Entering implements Pipe.Listener {
    private volatile Pipe.@Nullable Listener inside;

    @Override
    public void frame(Pipe pipe, Frame frame) {
      var known = inside;
      if (known != null) {
        known.frame(pipe, frame);
        return;
      }
      if (!(frame instanceof Frame.Greeting(int version, var from, var to, var ticket))) {
        pipe.cut(Status.of(Status.Code.INVALID_ARGUMENT, "no greeting of a node: " + frame));
        return;
      }
      Desk desk = desks.get(to.address());
      var own = desk == null ? null : desk.links;
      if (desk == null || own == null) {
        pipe.cut(Status.of(Status.Code.NOT_FOUND, to + " is not here"));
      } else if (!desk.tickets.isGood(ticket, from.address())) {
        pipe.cut(Status.of(Status.Code.UNAUTHENTICATED, "the ticket of " + from + " is not good"));
      } else {
        inside = own.accept(pipe, version, from, to);
      }
    }

    @Override
    public void beat(Pipe pipe, Frame.Beat beat, boolean first) {
      var known = inside;
      if (known != null) known.beat(pipe, beat, first);
    }

    @Override
    public void over(Pipe pipe, Status why) {
      var known = inside;
      if (known != null) known.over(pipe, why);
    }
  }

  /// Returns a channel to another process; null when that cannot be reached.
  @Nullable Channel to(String other) {
    Address place = place(other);
    if (place == null) return null;
    if (channels.size() > CHANNELS_MAX) {
      channels
          .values()
          .removeIf(channel -> {
            boolean idle = !channel.isConnected();
            if (idle) channel.close();
            return idle;
          });
    }
    return channels.computeIfAbsent(place, target -> new Channel(sockets, target, LIMITS, Map::of));
  }

  private static @Nullable Address place(String other) {
    String scheme = "tcp://";
    int end = other.lastIndexOf('/');
    boolean reachable = other.startsWith(scheme) && end > scheme.length();
    return reachable ? Address.parse(other.substring(scheme.length(), end)) : null;
  }

  @Override
  public void close() {
    var ends = new ArrayList<CompletableFuture<Void>>();
    for (Channel channel : channels.values()) {
      channel.close();
      ends.add(channel.end());
    }
    if (port != null) {
      port.drain(Status.of(Status.Code.UNAVAILABLE, "the process leaves the tree"));
      ends.add(port.end());
    }
    try {
      var _ =
          CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
              .get(END_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException late) {
      LOG.debug("connections do not end by themselves", late);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sockets.close();
    if (own != null) own.close();
  }
}
