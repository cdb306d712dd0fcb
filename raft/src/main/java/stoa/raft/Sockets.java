package stoa.raft;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.util.function.Consumer;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sockets between members, in TLS if the members have a secret or certificates: then both ends
/// prove themselves. Thread-safe.
public final class Sockets {
  private static final Logger LOG = LoggerFactory.getLogger(Sockets.class);
  private static final int CONNECT_MILLIS = 10_000;

  // The longest silence of the other end.
  private static final int SILENCE_MILLIS = 60_000;

  private static final int BACKLOG = 16;
  private static final int RESUMED_SECONDS = 1;

  private final @Nullable SSLContext context;

  // Whether a secret vouches for the certificates, and for the names in them.
  private final boolean named;

  private final Reach reach;

  private Sockets(@Nullable SSLContext context, boolean named, Reach reach) {
    this.context = context;
    this.named = named;
    this.reach = reach;
  }

  /// Returns the sockets of members that know a secret.
  public static Sockets with(Credentials credentials, Reach reach) {
    try {
      return new Sockets(credentials.context(), true, reach);
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no TLS", missing);
    }
  }

  /// Returns the sockets of members without a secret.
  ///
  /// @param tls authenticates the members; null for none
  /// @throws IOException when the certificates cannot be used
  public static Sockets of(NodeConfig.@Nullable Tls tls, Reach reach) throws IOException {
    try {
      return new Sockets(tls == null ? null : context(tls), false, reach);
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

  /// Listens at an address.
  ///
  /// @throws IOException when that is not possible
  public ServerSocket listen(String host, int port) throws IOException {
    var address = new InetSocketAddress(InetAddress.getByName(host), port);
    ServerSocketFactory factory =
        context == null ? ServerSocketFactory.getDefault() : context.getServerSocketFactory();
    ServerSocket listening = factory.createServerSocket();
    try {
      if (listening instanceof SSLServerSocket secure) secure.setNeedClientAuth(true);
      listening.setReuseAddress(true);
      listening.bind(address, BACKLOG);
      return listening;
    } catch (IOException e) {
      listening.close();
      throw e;
    }
  }

  /// Connects to a member's supply.
  ///
  /// @param opened receives the socket first, so that it can be ended while it connects
  Socket connect(Member member, Consumer<Socket> opened) throws IOException {
    return connect(member, member.supplyPort(), opened);
  }

  /// Connects to a port of a member.
  ///
  /// @param opened receives the socket first, so that it can be ended while it connects
  /// @throws IOException when it cannot be reached
  public Socket connect(Member member, int port, Consumer<Socket> opened) throws IOException {
    requireReached(member.id());
    SocketFactory factory =
        context == null ? SocketFactory.getDefault() : context.getSocketFactory();
    // Connected first, so that the connection attempt has a limit.
    Socket socket = factory.createSocket();
    opened.accept(socket);
    try {
      socket.connect(new InetSocketAddress(member.host(), port), CONNECT_MILLIS);
      if (!named && socket instanceof SSLSocket secure) {
        var parameters = secure.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secure.setSSLParameters(parameters);
      }
      if (socket instanceof SSLSocket secure) {
        socket.setSoTimeout(CONNECT_MILLIS);
        secure.startHandshake();
      }
      set(socket);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /// Makes the other end of an accepted connection prove itself.
  ///
  /// @return its name, or nothing when members have no secret
  /// @throws IOException when it proves nothing in time
  public String met(Socket socket) throws IOException {
    if (!(socket instanceof SSLSocket secure)) return "";
    socket.setSoTimeout(CONNECT_MILLIS);
    secure.startHandshake();
    return named ? Credentials.name(secure.getSession()) : "";
  }

  /// Refuses to exchange anything with a member that cannot be reached.
  ///
  /// @param member its name; empty when it is unknown
  /// @throws IOException when the network does not reach it
  public void requireReached(String member) throws IOException {
    if (!reach.reaches(member)) throw new IOException("the network does not reach " + member);
  }

  /// Sets the options of both ends.
  ///
  /// @throws IOException when the connection has ended
  public static void set(Socket socket) throws IOException {
    socket.setSoTimeout(SILENCE_MILLIS);
    socket.setTcpNoDelay(true);
  }

  /// Ends a connection at once, whatever is in progress, even if the other end does not read.
  public static void end(Socket socket) {
    try {
      // Otherwise TLS waits for the writing thread, to announce the end.
      socket.setSoLinger(true, 0);
    } catch (IOException gone) {
      LOG.debug("a connection has ended already", gone);
    }
    try {
      socket.close();
    } catch (IOException gone) {
      LOG.debug("a connection was not closed cleanly", gone);
    }
  }
}
