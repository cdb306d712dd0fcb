package stoa.node;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.links.TreeServer;
import stoa.node.access.IdentitySource;

/// How a server listens, and the bounds within which it works.
///
/// @param host the address that it listens on
/// @param port its port; 0 for any free one
/// @param certificate the file with the server's certificates in PEM; null for connections without
///   encryption
/// @param key the file with the certificate's private key in PEM; null without a certificate
/// @param authorities the file with the signers of clients' certificates in PEM; null when clients
///   show none
/// @param identities the clients that the server knows, and their roles
/// @param sessionsMax how many sessions may be open
/// @param requestsMax how many requests of a session may be in progress
/// @param containersMax how many objects a session may have open
/// @param transactionsMax how many transactions of a session may be open
/// @param answerBytesMax how many bytes of answers a session may leave unread or unacknowledged
/// @param lease how long a session lives without a connection
/// @param helloTimeMax how long a connection may stay without a hello
/// @param helloConnectionsMax how many such connections there may be
/// @param drainTimeMax how long a stopping server waits for requests in progress
/// @param treeLease the silence after which a connection between processes of the tree ends, and
///   others take over the objects of the silent one
/// @param treeFanOut the most processes directly below each process of the tree, and below the
///   server
/// @param clientClasses whether clients bring the shared classes that the store has never had
public record ServerConfig(
    String host,
    int port,
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path authorities,
    IdentitySource identities,
    int sessionsMax,
    int requestsMax,
    int containersMax,
    int transactionsMax,
    long answerBytesMax,
    Duration lease,
    Duration helloTimeMax,
    int helloConnectionsMax,
    Duration drainTimeMax,
    Duration treeLease,
    int treeFanOut,
    boolean clientClasses) {
  private static final int FAN_OUT_MIN = 2;
  private static final int FAN_OUT_MAX = 1_000;

  /// Checks the values.
  public ServerConfig {
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(identities, "identities");
    if (authorities != null && certificate == null) {
      throw new IllegalArgumentException(
          "the signers of clients' certificates need a certificate of the server; give both");
    }
    if (!helloTimeMax.isPositive() || helloConnectionsMax < 1) {
      throw new IllegalArgumentException(
          "no client can say hello within "
              + helloTimeMax
              + " over "
              + helloConnectionsMax
              + " connections; allow more");
    }
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException("a certificate and its key go together; give both");
    }
    if (treeFanOut < FAN_OUT_MIN || treeFanOut > FAN_OUT_MAX) {
      throw new IllegalArgumentException(
          "a tree in which "
              + treeFanOut
              + " processes are below one is too narrow or too wide; give "
              + FAN_OUT_MIN
              + " to "
              + FAN_OUT_MAX);
    }
  }

  /// Returns how many sessions of one client address may be open: half of all, so that it leaves
  /// some to the others.
  public int sessionsOfAddressMax() {
    return Math.max(1, sessionsMax / 2);
  }

  /// Returns how many sessions the clients of one of several identities may have open: half of all,
  /// so that it leaves some to the others.
  public int sessionsOfIdentityMax() {
    return Math.max(1, sessionsMax / 2);
  }

  /// Returns the files of the server's TLS; null for connections without encryption.
  @Nullable TlsFiles tls() {
    return certificate == null || key == null ? null : new TlsFiles(certificate, key, authorities);
  }

  /// Returns the default bounds, on an address.
  public static ServerConfig of(String host, int port) {
    return new ServerConfig(
        host,
        port,
        null,
        null,
        null,
        IdentitySource.NONE,
        10_000,
        8_192,
        20_000,
        256,
        64L << 20,
        Duration.ofSeconds(30),
        Duration.ofSeconds(10),
        1_000,
        Duration.ofSeconds(10),
        TreeServer.LEASE,
        TreeServer.FAN_OUT,
        false);
  }

  /// Returns this with encrypted connections.
  public ServerConfig withTls(Path newCertificate, Path newKey) {
    return with(
        newCertificate,
        newKey,
        authorities,
        identities,
        lease,
        requestsMax,
        answerBytesMax,
        sessionsMax,
        helloTimeMax,
        helloConnectionsMax);
  }

  /// Returns this with a token that clients must send.
  public ServerConfig withToken(String value) {
    return withTokens(List.of(value));
  }

  /// Returns this with the tokens of which clients must send one. Clients of each have a share of
  /// the sessions, see [#sessionsOfIdentityMax()].
  public ServerConfig withTokens(List<String> value) {
    return withIdentities(new IdentitySource.Words(value, Set.of()));
  }

  /// Returns this with the signers of clients' certificates.
  public ServerConfig withAuthorities(Path value) {
    return with(
        certificate,
        key,
        value,
        identities,
        lease,
        requestsMax,
        answerBytesMax,
        sessionsMax,
        helloTimeMax,
        helloConnectionsMax);
  }

  /// Returns this with the clients that the server knows.
  public ServerConfig withIdentities(IdentitySource value) {
    return with(
        certificate,
        key,
        authorities,
        value,
        lease,
        requestsMax,
        answerBytesMax,
        sessionsMax,
        helloTimeMax,
        helloConnectionsMax);
  }

  /// Returns this with another lease.
  public ServerConfig withLease(Duration value) {
    return with(
        certificate,
        key,
        authorities,
        identities,
        value,
        requestsMax,
        answerBytesMax,
        sessionsMax,
        helloTimeMax,
        helloConnectionsMax);
  }

  /// Returns this with another number of requests in progress.
  public ServerConfig withRequestsMax(int value) {
    return with(
        certificate,
        key,
        authorities,
        identities,
        lease,
        value,
        answerBytesMax,
        sessionsMax,
        helloTimeMax,
        helloConnectionsMax);
  }

  /// Returns this with another bound for answers.
  public ServerConfig withAnswerBytesMax(long value) {
    return with(
        certificate,
        key,
        authorities,
        identities,
        lease,
        requestsMax,
        value,
        sessionsMax,
        helloTimeMax,
        helloConnectionsMax);
  }

  /// Returns this with another number of sessions.
  public ServerConfig withSessionsMax(int value) {
    return with(
        certificate,
        key,
        authorities,
        identities,
        lease,
        requestsMax,
        answerBytesMax,
        value,
        helloTimeMax,
        helloConnectionsMax);
  }

  /// Returns this with other bounds for connections without a hello.
  public ServerConfig withHello(Duration timeMax, int connectionsMax) {
    return with(
        certificate,
        key,
        authorities,
        identities,
        lease,
        requestsMax,
        answerBytesMax,
        sessionsMax,
        timeMax,
        connectionsMax);
  }

  /// Returns this with another lease of the tree.
  public ServerConfig withTreeLease(Duration value) {
    return with(value, treeFanOut, clientClasses);
  }

  /// Returns this with another fan-out of the tree.
  ///
  /// @throws IllegalArgumentException when it is below 2 or above 1,000
  public ServerConfig withTreeFanOut(int value) {
    return with(treeLease, value, clientClasses);
  }

  /// Returns this for a server that takes the shared classes of its clients: when a client uses a
  /// class that the store has never had, the client brings it, and the server runs it.
  public ServerConfig withClientClasses() {
    return with(treeLease, treeFanOut, true);
  }

  private ServerConfig with(Duration newLease, int newFanOut, boolean newClientClasses) {
    return new ServerConfig(
        host,
        port,
        certificate,
        key,
        authorities,
        identities,
        sessionsMax,
        requestsMax,
        containersMax,
        transactionsMax,
        answerBytesMax,
        lease,
        helloTimeMax,
        helloConnectionsMax,
        drainTimeMax,
        newLease,
        newFanOut,
        newClientClasses);
  }

  private ServerConfig with(
      @Nullable Path newCertificate,
      @Nullable Path newKey,
      @Nullable Path newAuthorities,
      IdentitySource newIdentities,
      Duration newLease,
      int newRequestsMax,
      long newAnswerBytesMax,
      int newSessionsMax,
      Duration newHelloTimeMax,
      int newHelloConnectionsMax) {
    return new ServerConfig(
        host,
        port,
        newCertificate,
        newKey,
        newAuthorities,
        newIdentities,
        newSessionsMax,
        newRequestsMax,
        containersMax,
        transactionsMax,
        newAnswerBytesMax,
        newLease,
        newHelloTimeMax,
        newHelloConnectionsMax,
        drainTimeMax,
        treeLease,
        treeFanOut,
        clientClasses);
  }
}
