package stoa.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.ConnectionSecurity;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.ConnectionLimits;
import stoa.transport.Sockets;
import stoa.transport.Tls;

/// Creates channels to servers, and owns the thread that reads and writes them. Reads certificates
/// for each connection, and the token for each stream. Thread-safe; its owner closes it.
public final class Channels implements AutoCloseable {
  /// The header that has the token, after [#BEARER].
  public static final String AUTHORIZATION = "authorization";

  /// The beginning of the header that has the token.
  public static final String BEARER = "Bearer ";

  private static final Logger LOG = LoggerFactory.getLogger(Channels.class);
  private static final ConnectionLimits LIMITS =
      ConnectionLimits.DEFAULT.withMessageBytesMax(FrameLimits.BYTES_MAX);
  private static final long END_MILLIS = 1_000;

  // The time for a channel to end by itself.
  private static final long QUIET_MILLIS = 250;

  private final ConnectionSecurity security;
  private final Sockets sockets;

  // The channels that may still be open. Guarded by itself.
  private final Set<Channel> open = new HashSet<>();

  private boolean closed; // guarded by open

  // The last token, which stays when its file cannot be read.
  private volatile @Nullable String token;

  /// Creates it, and starts its thread.
  public Channels(ConnectionSecurity security) {
    this.security = security;
    token = security.token();
    Path trusted = security.certificate();
    var tls = trusted == null ? null : new Tls(() -> context(trusted), false);
    sockets = Sockets.client("stoa-client-network", tls);
  }

  private SSLContext context(Path trusted) {
    try {
      return Tls.context(security.ownCertificate(), security.ownKey(), trusted);
    } catch (IOException unusable) {
      throw new IllegalArgumentException(
          "the certificate " + trusted + " cannot be used: " + unusable.getMessage(), unusable);
    }
  }

  private Map<String, String> headers() {
    Path file = security.tokenFile();
    if (security.token() == null && file != null) {
      try {
        token = Files.readString(file).strip().split("\\s", 2)[0];
      } catch (IOException unreadable) {
        LOG.warn("the token in {} cannot be read; the one of before counts", file, unreadable);
      }
    }
    String now = token;
    if (now == null) return Map.of();
    return Map.of(AUTHORIZATION, BEARER + now);
  }

  /// Returns a channel that connects on its first use, whose streams throw
  /// [IllegalArgumentException] when they begin and a certificate is unusable. After a close, it is
  /// closed already.
  public Channel to(Address address) {
    var made = new Channel(sockets, address, LIMITS, this::headers);
    synchronized (open) {
      open.removeIf(Channel::isOver);
      if (closed) made.close();
      else open.add(made);
    }
    return made;
  }

  /// Runs a task soon on the thread that reads and writes.
  public void execute(Runnable task) {
    sockets.threads().getFirst().execute(task);
  }

  /// Ends all channels, and waits shortly until they have said everything.
  @Override
  public void close() {
    List<Channel> last;
    synchronized (open) {
      closed = true;
      last = List.copyOf(open);
      open.clear();
    }
    last.forEach(Channel::close);
    var ends = last.stream().map(Channel::end).toArray(CompletableFuture[]::new);
    try {
      try {
        var _ = CompletableFuture.allOf(ends).get(QUIET_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException | ExecutionException late) {
        LOG.debug("connections do not end by themselves", late);
      }
      sockets.close();
      var _ = sockets.await(END_MILLIS);
    } catch (InterruptedException e) {
      sockets.close();
      Thread.currentThread().interrupt();
    }
  }
}
