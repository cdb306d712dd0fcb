package stoa.node;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.grpc.netty.shaded.io.netty.handler.ssl.JdkSslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A door of a server for HTTP: routes by path, a token, and limits. Thread-safe.
///
/// It answers GET and HEAD, one request a connection at a time. It closes connections beyond 256,
/// connections that send no whole request within 10 seconds, and idle ones after 30.
public final class HttpDoor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpDoor.class);
  private static final int BACKLOG = 64;
  private static final int FORBIDDEN = 403;
  private static final int STOP_SECONDS_MAX = 1;
  private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

  // The JDK's server reads its limits from properties of the process, when the first one is made.
  private static final Map<String, String> LIMITS =
      Map.of(
          "jdk.httpserver.maxConnections", "256",
          "sun.net.httpserver.maxReqTime", "10",
          "sun.net.httpserver.maxRspTime", "30",
          "sun.net.httpserver.idleInterval", "30",
          "sun.net.httpserver.maxReqHeaders", "64",
          "sun.net.httpserver.maxReqHeaderSize", "16384");

  static {
    LIMITS.forEach((name, value) -> {
      if (System.getProperty(name) == null) System.setProperty(name, value);
    });
  }

  /// How a door listens.
  ///
  /// @param host the address
  /// @param port 0 for any
  /// @param certificate its certificates, in PEM; null for connections without encryption
  /// @param key their private key, in PEM; null when there is no certificate
  /// @param tokens of which clients must send one, as `Authorization: Bearer TOKEN`; none for none
  public record Config(
      String host, int port, @Nullable Path certificate, @Nullable Path key, List<String> tokens) {
    /// Checks the values.
    public Config {
      tokens = List.copyOf(tokens);
      if ((certificate == null) != (key == null)) {
        throw new IllegalArgumentException("a certificate and its key go together; give both");
      }
    }
  }

  /// A request.
  ///
  /// @param path of the URL, decoded
  /// @param isTrusted whether it came with a right token, or needs none
  public record Asked(String path, boolean isTrusted) {}

  /// An answer.
  ///
  /// @param status of HTTP
  /// @param type of the content
  /// @param body what is sent
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
  public record Reply(int status, String type, byte[] body) {
    /// Returns an answer of text.
    public static Reply text(int status, String type, String body) {
      return new Reply(status, type + "; charset=utf-8", body.getBytes(StandardCharsets.UTF_8));
    }
  }

  /// Answers the requests on one path. Thread-safe.
  @FunctionalInterface
  public interface Route {
    /// Answers a request.
    ///
    /// @throws Exception for a failure that the server logs, and the client learns as status 500
    Reply reply(Asked asked) throws Exception;

    /// Returns whether requests need no token. Such a route tells strangers no more than
    /// [Asked#isTrusted()] allows.
    default boolean isOpen() {
      return false;
    }
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Tokens tokens;
  private final WrongTokens wrong = new WrongTokens();
  private final Map<String, Route> routes;

  private HttpDoor(Config config, Map<String, Route> routes) throws IOException {
    this.tokens = new Tokens(config.tokens());
    this.routes = Map.copyOf(routes);
    var address = new InetSocketAddress(config.host(), config.port());
    Path certificate = config.certificate();
    Path key = config.key();
    if (certificate != null && key != null) {
      var secure = HttpsServer.create(address, BACKLOG);
      secure.setHttpsConfigurator(new HttpsConfigurator(context(certificate, key)));
      server = secure;
    } else {
      server = HttpServer.create(address, BACKLOG);
    }
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  private static SSLContext context(Path certificate, Path key) throws IOException {
    var context =
        SslContextBuilder.forServer(certificate.toFile(), key.toFile())
            .sslProvider(SslProvider.JDK)
            .build();
    return ((JdkSslContext) context).context();
  }

  /// Opens a door.
  ///
  /// @param routes by path, without an end of `/`
  /// @throws IOException when the address is not available, or the certificate cannot be read
  public static HttpDoor open(Config config, Map<String, Route> routes) throws IOException {
    return new HttpDoor(config, routes);
  }

  /// Returns the port that it listens on.
  public int port() {
    return server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    String host = exchange.getRemoteAddress().getAddress().getHostAddress();
    Route route = routes.get(exchange.getRequestURI().getPath());
    boolean isOpen = route != null && route.isOpen();
    boolean isTrusted = tokens.isEmpty();
    String told = exchange.getRequestHeaders().getFirst("Authorization");
    if (!isTrusted && told != null) {
      if (!wrong.mayTry(host)) {
        send(exchange, plain(429, "wrong tokens come from " + host + "; try again soon"));
        return;
      }
      isTrusted = tokens.find(told) != 0;
      if (!isTrusted) {
        wrong.refuse(host, () -> threads.execute(() -> refuse(exchange, "the token is wrong")));
        return;
      }
    }
    if (!isTrusted && !isOpen) {
      refuse(exchange, "send a token of the server's --token-file as Authorization: Bearer TOKEN");
      return;
    }
    send(exchange, reply(exchange, route, isTrusted));
  }

  private void refuse(HttpExchange exchange, String reason) {
    exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
    try {
      send(exchange, plain(401, reason));
    } catch (IOException gone) {
      LOG.debug("a client without a token has left", gone);
    }
  }

  private Reply reply(HttpExchange exchange, @Nullable Route route, boolean isTrusted) {
    String path = exchange.getRequestURI().getPath();
    // A page of the web that the user of a browser on this machine has open must not ask.
    if (exchange.getRequestHeaders().getFirst("Origin") != null) {
      return plain(FORBIDDEN, "requests of web pages of other origins are refused");
    }
    if (tokens.isEmpty() && isOfAnotherName(exchange)) {
      return plain(
          FORBIDDEN,
          "without a token, this door answers requests to 127.0.0.1 or localhost alone; name one of"
              + " these, or give the server a --token-file");
    }
    if (route == null) {
      return plain(404, path + " is not here; there are " + String.join(", ", paths()));
    }
    String method = exchange.getRequestMethod();
    if (!method.equals("GET") && !method.equals("HEAD")) {
      return plain(405, method + " is not possible; use GET");
    }
    try {
      return route.reply(new Asked(path, isTrusted));
    } catch (Exception failed) {
      LOG.warn("{} was not answered", path, failed);
      return plain(500, "the server failed: " + failed.getMessage());
    }
  }

  /// Returns whether a request that arrived on this machine's own address asks for another host: a
  /// web page can have its name lead here, and the browser then takes the page and this door for
  /// one origin.
  private static boolean isOfAnotherName(HttpExchange exchange) {
    String host = exchange.getRequestHeaders().getFirst("Host");
    if (host == null || !exchange.getLocalAddress().getAddress().isLoopbackAddress()) return false;
    String name = host.replaceFirst(":\\d*$", "");
    return !OWN_NAMES.contains(name.toLowerCase(Locale.ROOT));
  }

  private List<String> paths() {
    return routes.keySet().stream().sorted().toList();
  }

  private static Reply plain(int status, String text) {
    return Reply.text(status, "text/plain", text + "\n");
  }

  private static void send(HttpExchange exchange, Reply reply) throws IOException {
    try (exchange) {
      var headers = exchange.getResponseHeaders();
      headers.set("Content-Type", reply.type());
      headers.set("Cache-Control", "no-store");
      headers.set("X-Content-Type-Options", "nosniff");
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      byte[] body = reply.body();
      if (isHead) {
        headers.set("Content-Length", Integer.toString(body.length));
        exchange.sendResponseHeaders(reply.status(), -1);
        return;
      }
      exchange.sendResponseHeaders(reply.status(), body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /// Closes it, and ends its requests within a second.
  @Override
  public void close() {
    server.stop(STOP_SECONDS_MAX);
    threads.shutdownNow();
  }
}
