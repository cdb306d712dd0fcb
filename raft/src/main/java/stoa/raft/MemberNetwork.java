package stoa.raft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.ConnectionLimits;
import stoa.transport.Network;
import stoa.transport.Receiver;
import stoa.transport.Sockets;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.transport.StreamAcceptor;
import stoa.transport.Tls;

/// The connections between members, in TLS if the members have a secret or certificates: then both
/// ends prove themselves. Thread-safe; its owner closes it.
public final class MemberNetwork implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MemberNetwork.class);
  private static final int THREADS = 2;
  private static final int RESUMED_SECONDS = 1;
  private static final long ENDING_MILLIS = 10_000;

  // The shortest time between two log lines about strangers.
  private static final long TOLD_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Sockets sockets;

  // Whether a secret vouches for the certificates, and for the names in them.
  private final boolean named;

  private final Reach reach;

  // The time of the last log line about a stranger.
  private final AtomicLong toldNanos = new AtomicLong(System.nanoTime() - TOLD_NANOS);

  private volatile boolean closed;

  private MemberNetwork(@Nullable SSLContext context, boolean named, Reach reach) {
    // A secret vouches for a member wherever it is; a certificate, for a host.
    Tls tls = context == null ? null : Tls.both(context, !named);
    // The thread of a group sends by itself: nothing comes back on the connection of a group's
    // messages, and a change of threads would be on the path of each entry twice.
    sockets =
        new Sockets(
            THREADS,
            Thread.ofPlatform().daemon().name("stoa-members").factory(),
            tls,
            Sockets.Sending.AT_ONCE);
    this.named = named;
    this.reach = reach;
  }

  /// Returns the network of a member that knows a secret.
  public static MemberNetwork with(Credentials credentials, Reach reach) {
    try {
      return new MemberNetwork(credentials.context(), true, reach);
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no TLS", missing);
    }
  }

  /// Returns the network of a member without a secret.
  ///
  /// @param tls authenticates the members; null for none
  /// @throws IOException when the certificates cannot be used
  public static MemberNetwork of(NodeConfig.@Nullable Tls tls, Reach reach) throws IOException {
    try {
      return new MemberNetwork(tls == null ? null : context(tls), false, reach);
    } catch (GeneralSecurityException e) {
      throw new IOException("the certificates of " + tls + " cannot be used: " + e, e);
    }
  }

  private static SSLContext context(NodeConfig.Tls tls)
      throws GeneralSecurityException, IOException {
    var certificates = new Certificates(tls);
    var context = SSLContext.getInstance("TLS");
    context.init(
        new KeyManager[] {certificates.keys()}, new TrustManager[] {certificates.trusted()}, null);
    // A resumed connection would pass over files that have changed.
    context.getClientSessionContext().setSessionTimeout(RESUMED_SECONDS);
    context.getServerSessionContext().setSessionTimeout(RESUMED_SECONDS);
    return context;
  }

  /// Returns the way to a port of a member; the caller closes it.
  public Channel channel(Member to, int port, ConnectionLimits limits) {
    return new Channel(sockets, new Address(to.host(), port), limits, Map::of);
  }

  /// The side of a port that takes streams of members. The network's threads call it.
  public interface Port {
    /// Takes a stream. It must not wait.
    ///
    /// @param from the proved name of the other member; empty when the members have no secret
    /// @return the receiver of its messages
    /// @throws IOException refuses the stream
    Receiver begin(String from, Stream stream) throws IOException;
  }

  /// Listens at a port until the answer is closed.
  ///
  /// @throws IOException when the address is not available
  public Network.Listening listen(String host, int port, ConnectionLimits limits, Port taking)
      throws IOException {
    return sockets.listen(
        new Address(host, port),
        limits,
        new StreamAcceptor() {
          @Override
          public Receiver begin(Stream stream) {
            try {
              String from = name(stream);
              requireReached(from);
              return taking.begin(from, stream);
            } catch (IOException refused) {
              stream.end(Status.of(Status.Code.UNAVAILABLE, refused.getMessage()));
              return IGNORING;
            }
          }

          @Override
          public void refused(@Nullable InetSocketAddress remote, IOException cause) {
            stranger(remote, cause);
          }
        });
  }

  private static final Receiver IGNORING =
      new Receiver() {
        @Override
        public void message(byte[] message) {
          // It is refused.
        }

        @Override
        public void over(Status status) {
          // It is.
        }
      };

  private String name(Stream stream) throws IOException {
    return named ? Credentials.name(stream.peer().certificate()) : "";
  }

  private void stranger(@Nullable InetSocketAddress remote, IOException cause) {
    long now = System.nanoTime();
    long told = toldNanos.get();
    boolean tells = !closed && now - told > TOLD_NANOS && toldNanos.compareAndSet(told, now);
    LOG.atLevel(tells ? Level.WARN : Level.DEBUG)
        .log(
            "{} is refused at the port of the servers, since it is none of them: {}",
            remote,
            cause.toString());
  }

  /// Returns whether messages to and from a member pass.
  ///
  /// @param member its name; empty when it is unknown
  public boolean reaches(String member) {
    return reach.reaches(member);
  }

  /// Refuses to exchange anything with a member that cannot be reached.
  ///
  /// @param member its name; empty when it is unknown
  /// @throws IOException when the network does not reach it
  public void requireReached(String member) throws IOException {
    if (!reaches(member)) throw new IOException("the network does not reach " + member);
  }

  /// Ends all connections, and waits until the ports are free.
  @Override
  public void close() {
    closed = true;
    sockets.close();
    try {
      if (!sockets.await(ENDING_MILLIS)) LOG.warn("the connections between servers do not end");
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
    }
  }
}
