package stoa.node;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.node.access.Access;
import stoa.node.access.Caller;

/// A door of a server for HTTP: routes by path, the proofs of clients, and limits. Thread-safe.
///
/// It answers one request a connection at a time. It closes connections beyond 256, connections
/// that send no whole request within 10 seconds, idle ones after 30, and those of clients that do
/// not read a reply, or a part of a stream, within 30. The bodies of all requests together take at
/// most 64 MiB.
public final class HttpDoor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpDoor.class);
  private static final int BACKLOG = 64;
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int NO_SUCH_METHOD = 405;
  private static final int TOO_LARGE = 413;
  private static final int FAILED = 500;
  private static final int BUSY = 503;
  private static final int STOP_SECONDS_MAX = 1;
  private static final Duration WRITE_MAX = Duration.ofSeconds(30);
  private static final int BODIES_BYTES_MAX = 64 << 20;
  private static final Set<String> GET = Set.of("GET");
  private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

  // The JDK's server reads its limits from properties of the process, when the first one is made.
  private static final Map<String, String> LIMITS =
      Map.of(
          "jdk.httpserver.maxConnections", "256",
          "sun.net.httpserver.maxReqTime", "10",
          // The door limits each write itself: streams of events take longer.
          "sun.net.httpserver.maxRspTime", "-1",
          "sun.net.httpserver.nodelay", "true",
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
  /// @param authorities the signers of clients' certificates, in PEM; null when clients show none
  public record Config(
      String host,
      int port,
      @Nullable Path certificate,
      @Nullable Path key,
      @Nullable Path authorities) {
    /// Checks the values.
    public Config {
      if ((certificate == null) != (key == null)) {
        throw new IllegalArgumentException("a certificate and its key go together; give both");
      }
    }

    /// Returns an address for connections without encryption.
    public static Config plain(String host, int port) {
      return new Config(host, port, null, null, null);
    }

    private @Nullable TlsFiles tls() {
      return certificate == null || key == null
          ? null
          : new TlsFiles(certificate, key, authorities);
    }
  }

  /// A request.
  ///
  /// @param method of HTTP; GET for HEAD
  /// @param uri its path and query
  /// @param headers the first value of each header, by its name in small letters
  /// @param body what it carries; empty for none
  /// @param caller the client; null for one without a known proof, on an open route
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
  public record HttpRequest(
      String method, URI uri, Map<String, String> headers, byte[] body, @Nullable Caller caller) {
    /// Returns whether it came with a known proof, or needs none.
    public boolean isTrusted() {
      return caller != null;
    }

    /// Returns the path of the URL, decoded.
    public String path() {
      return uri.getPath();
    }

    /// Returns a header; null when the request has none of the name.
    ///
    /// @param name in small letters
    public @Nullable String header(String name) {
      return headers.get(name);
    }
  }

  /// Sends the parts of a stream. One thread at a time uses it.
  public interface Sending {
    /// Sends a part at once.
    ///
    /// @throws IOException when the client is gone, or does not read
    void send(byte[] part) throws IOException;
  }

  /// The content of an answer that has no end of its own, part after part.
  @FunctionalInterface
  public interface Stream {
    /// Sends the parts; the answer ends when this method returns or throws.
    ///
    /// @throws IOException when the client is gone
    /// @throws InterruptedException when the door closes
    void run(Sending out) throws IOException, InterruptedException;
  }

  /// An answer.
  ///
  /// @param status of HTTP
  /// @param headers its headers, among them the type of the content
  /// @param body what is sent
  /// @param stream what is sent after that; null for nothing
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
  public record Reply(
      int status, Map<String, String> headers, byte[] body, @Nullable Stream stream) {
    private static final String TYPE = "Content-Type";

    /// Copies the headers.
    public Reply {
      headers = Map.copyOf(headers);
    }

    /// Returns an answer of text.
    public static Reply text(int status, String type, String body) {
      return of(status, type + "; charset=utf-8", body.getBytes(StandardCharsets.UTF_8));
    }

    /// Returns an answer of bytes.
    public static Reply of(int status, String type, byte[] body) {
      return new Reply(status, Map.of(TYPE, type), body, null);
    }

    /// Returns an answer that is a stream.
    public static Reply stream(String type, Stream stream) {
      return new Reply(200, Map.of(TYPE, type), new byte[0], stream);
    }

    /// Returns this answer with one more header.
    public Reply with(String header, String value) {
      var more = new HashMap<>(headers);
      more.put(header, value);
      return new Reply(status, more, body, stream);
    }
  }

  /// Answers the requests on one path, or on all paths below one. Thread-safe.
  @FunctionalInterface
  public interface Route {
    /// Answers a request.
    ///
    /// @throws Exception for a failure that the server logs, and the client learns as status 500
    Reply reply(HttpRequest asked) throws Exception;

    /// Returns whether requests need no proof. Such a route tells strangers no more than
    /// [HttpRequest#isTrusted()] allows.
    default boolean isOpen() {
      return false;
    }

    /// Returns the methods of HTTP that it answers; HEAD belongs to GET.
    default Set<String> methods() {
      return GET;
    }

    /// Returns the most bytes of a request's body.
    default int bodyMax() {
      return 0;
    }

    /// Returns the form of a refusal by the door.
    default Reply refusal(int status, String reason) {
      return Reply.text(status, "text/plain", reason + "\n");
    }
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Access access;
  private final Reloading reloading = new Reloading();
  private final Map<String, Route> routes;
  private final Duration writeMax;
  private final Semaphore bodyBytes = new Semaphore(BODIES_BYTES_MAX);
  private final ScheduledThreadPoolExecutor watch;

  private HttpDoor(Config config, Access access, Map<String, Route> routes, Duration writeMax)
      throws IOException {
    this.writeMax = writeMax;
    this.access = access;
    this.routes = Map.copyOf(routes);
    watch =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("stoa-http-watch").factory());
    watch.setRemoveOnCancelPolicy(true);
    var address = new InetSocketAddress(config.host(), config.port());
    TlsFiles tls = config.tls();
    if (tls != null) {
      var secure = HttpsServer.create(address, BACKLOG);
      secure.setHttpsConfigurator(new Secure(tls));
      reloading.add(
          "the certificates", tls.files(), () -> secure.setHttpsConfigurator(new Secure(tls)));
      var _ = watch.scheduleWithFixedDelay(reloading::tick, 1, 1, TimeUnit.SECONDS);
      server = secure;
    } else {
      server = HttpServer.create(address, BACKLOG);
    }
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  /// The TLS of connections.
  private static final class Secure extends HttpsConfigurator {
    private final boolean asksClients;

    Secure(TlsFiles files) throws IOException {
      super(files.context());
      asksClients = files.authorities() != null;
    }

    @Override
    public void configure(HttpsParameters parameters) {
      SSLParameters tls = getSSLContext().getDefaultSSLParameters();
      tls.setWantClientAuth(asksClients);
      parameters.setSSLParameters(tls);
    }
  }

  /// Returns the certificate that the other end of a connection has shown, and that the authorities
  /// have signed; null for none.
  private static @Nullable X509Certificate certificate(SSLSession session) {
    try {
      var shown = session.getPeerCertificates();
      return shown.length > 0 && shown[0] instanceof X509Certificate first ? first : null;
    } catch (SSLPeerUnverifiedException none) {
      return null;
    }
  }

  /// Opens a door.
  ///
  /// @param access admits clients
  /// @param routes by path; one that ends with `/` gets the requests on all paths below it that
  ///   have no route of their own
  /// @throws IOException when the address is not available, or the certificate cannot be read
  public static HttpDoor open(Config config, Access access, Map<String, Route> routes)
      throws IOException {
    return open(config, access, routes, WRITE_MAX);
  }

  /// Opens a door as [#open(Config, Access, Map)].
  ///
  /// @param writeMax how long a client may take to read a reply, or a part of a stream
  static HttpDoor open(Config config, Access access, Map<String, Route> routes, Duration writeMax)
      throws IOException {
    return new HttpDoor(config, access, routes, writeMax);
  }

  /// Returns the port that it listens on.
  public int port() {
    return server.getAddress().getPort();
  }

  private @Nullable Route route(String path) {
    Route exact = routes.get(path);
    if (exact != null) return exact;
    for (int end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
      Route above = routes.get(path.substring(0, end + 1));
      if (above != null) return above;
    }
    return null;
  }

  private void handle(HttpExchange exchange) throws IOException {
    String host = exchange.getRemoteAddress().getAddress().getHostAddress();
    Route route = route(exchange.getRequestURI().getPath());
    boolean isOpen = route != null && route.isOpen();
    String told = exchange.getRequestHeaders().getFirst("Authorization");
    X509Certificate certificate =
        exchange instanceof HttpsExchange secure ? certificate(secure.getSSLSession()) : null;
    boolean isProving = told != null || certificate != null;
    if (!access.identities().isOpen() && isProving && !access.refusals().mayTry(host)) {
      send(exchange, refusal(route, 429, "wrong tokens come from " + host + "; try again soon"));
      return;
    }
    Caller caller = access.caller(told, certificate);
    if (caller == null && isProving) {
      access
          .refusals()
          .unproved(host, () -> threads.execute(() -> refuse(exchange, route, access.remedy())));
      return;
    }
    if (caller == null && !isOpen) {
      refuse(exchange, route, "send a token as Authorization: Bearer TOKEN; " + access.remedy());
      return;
    }
    send(exchange, reply(exchange, route, caller));
  }

  private void refuse(HttpExchange exchange, @Nullable Route route, String reason) {
    exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
    try {
      send(exchange, refusal(route, 401, reason));
    } catch (IOException gone) {
      LOG.debug("a client without a token has left", gone);
    }
  }

  private static Reply refusal(@Nullable Route route, int status, String reason) {
    if (route != null) return route.refusal(status, reason);
    return Reply.text(status, "text/plain", reason + "\n");
  }

  private Reply reply(HttpExchange exchange, @Nullable Route route, @Nullable Caller caller)
      throws IOException {
    String path = exchange.getRequestURI().getPath();
    // A page of the web that the user of a browser on this machine has open must not ask.
    if (isOfAnotherOrigin(exchange)) {
      return refusal(route, FORBIDDEN, "requests of web pages of other origins are refused");
    }
    if (access.identities().isOpen() && isOfAnotherName(exchange)) {
      return refusal(
          route,
          FORBIDDEN,
          "without a token, this door answers requests to 127.0.0.1 or localhost alone; name one of"
              + " these, or give the server a --token-file");
    }
    if (route == null) {
      String all = String.join(", ", paths());
      return refusal(null, NOT_FOUND, path + " is not here; there are " + all);
    }
    String asked = exchange.getRequestMethod();
    String method = asked.equals("HEAD") ? "GET" : asked;
    if (!route.methods().contains(method)) {
      String may = String.join(", ", route.methods().stream().sorted().toList());
      return route.refusal(NO_SUCH_METHOD, asked + " is not possible; use " + may);
    }
    int max = route.bodyMax();
    int room = Math.min(max, length(exchange, max));
    if (!bodyBytes.tryAcquire(room)) {
      return route.refusal(
          BUSY, "the bodies of other requests fill the memory for them; try again");
    }
    try {
      byte[] body = exchange.getRequestBody().readNBytes(room + 1);
      if (body.length > max) {
        return route.refusal(TOO_LARGE, "the body has more than " + max + " bytes; send less");
      }
      if (body.length > room) return route.refusal(TOO_LARGE, "the body is longer than it says");
      return route.reply(
          new HttpRequest(method, exchange.getRequestURI(), headers(exchange), body, caller));
    } catch (IOException cut) {
      throw cut;
    } catch (Exception failed) {
      LOG.warn("{} was not answered", path, failed);
      return route.refusal(FAILED, "the server failed: " + failed.getMessage());
    } finally {
      bodyBytes.release(room);
    }
  }

  /// Returns how long the body says that it is; the most that is possible when it does not.
  private static int length(HttpExchange exchange, int max) {
    var headers = exchange.getRequestHeaders();
    if (headers.containsKey("Transfer-Encoding")) return max;
    String told = headers.getFirst("Content-Length");
    if (told == null) return 0;
    try {
      return (int) Math.clamp(Long.parseLong(told.strip()), 0L, max);
    } catch (NumberFormatException none) {
      return max;
    }
  }

  private static Map<String, String> headers(HttpExchange exchange) {
    var headers = new HashMap<String, String>();
    exchange
        .getRequestHeaders()
        .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
    return headers;
  }

  private static boolean isOfAnotherOrigin(HttpExchange exchange) {
    String origin = exchange.getRequestHeaders().getFirst("Origin");
    if (origin == null) return false;
    String host = exchange.getRequestHeaders().getFirst("Host");
    String scheme = exchange instanceof HttpsExchange ? "https://" : "http://";
    return host == null || !origin.equalsIgnoreCase(scheme + host);
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

  private void send(HttpExchange exchange, Reply reply) throws IOException {
    try (exchange) {
      var headers = exchange.getResponseHeaders();
      headers.set("Cache-Control", "no-store");
      reply.headers().forEach(headers::set);
      headers.set("X-Content-Type-Options", "nosniff");
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      byte[] body = reply.body();
      Stream stream = reply.stream();
      if (isHead) {
        if (stream == null) headers.set("Content-Length", Integer.toString(body.length));
        exchange.sendResponseHeaders(reply.status(), -1);
        return;
      }
      if (stream == null) {
        within(() -> {
          exchange.sendResponseHeaders(reply.status(), body.length == 0 ? -1 : body.length);
          exchange.getResponseBody().write(body);
        });
        return;
      }
      OutputStream out = exchange.getResponseBody();
      within(() -> {
        exchange.sendResponseHeaders(reply.status(), 0);
        exchange.getResponseBody().flush();
      });
      stream.run(part ->
          within(() -> {
            out.write(part);
            out.flush();
          }));
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private interface Writing {
    void write() throws IOException;
  }

  /// Writes, and cuts off a client that does not read: an interrupt closes the channel.
  private void within(Writing writing) throws IOException {
    Thread writer = Thread.currentThread();
    var cut = watch.schedule(writer::interrupt, writeMax.toMillis(), TimeUnit.MILLISECONDS);
    try {
      writing.write();
    } finally {
      if (!cut.cancel(false)) Thread.interrupted();
    }
  }

  /// Closes it, and ends its requests within a second.
  @Override
  public void close() {
    server.stop(STOP_SECONDS_MAX);
    threads.shutdownNow();
    watch.shutdownNow();
  }
}
