package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import stoa.node.access.Access;
import stoa.node.access.IdentitySource;

class HttpDoorTest {
  private static final String TOKEN = "secret";

  private static final HttpDoor.Route OPEN =
      new HttpDoor.Route() {
        @Override
        public HttpDoor.Reply reply(HttpDoor.HttpRequest asked) {
          return HttpDoor.Reply.text(200, "text/plain", asked.isTrusted() ? "all" : "little");
        }

        @Override
        public boolean isOpen() {
          return true;
        }
      };

  private static HttpDoor open(List<String> tokens) throws IOException {
    return HttpDoor.open(
        HttpDoor.Config.plain("127.0.0.1", 0),
        Access.of(new IdentitySource.Words(tokens, Set.of())),
        Map.of(
            "/a",
            asked -> HttpDoor.Reply.text(200, "text/plain", "at " + asked.path()),
            "/open",
            OPEN,
            "/broken",
            _ -> {
              throw new IllegalStateException("it broke");
            }));
  }

  private static HttpResponse<String> ask(
      HttpDoor door, String method, String path, String... headers) throws Exception {
    var uri = URI.create("http://127.0.0.1:" + door.port() + path);
    var request = HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) request.headers(headers);
    try (var client = HttpClient.newHttpClient()) {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void answersByPath() throws Exception {
    try (var door = open(List.of())) {
      var answer = ask(door, "GET", "/a");
      assertEquals(200, answer.statusCode());
      assertEquals("at /a", answer.body());
      assertEquals("text/plain; charset=utf-8", answer.headers().firstValue("Content-Type").get());
      assertEquals("", ask(door, "HEAD", "/a").body());
      assertEquals("all", ask(door, "GET", "/open").body());
    }
  }

  @Test
  void refusesWhatIsNotThere() throws Exception {
    try (var door = open(List.of())) {
      var none = ask(door, "GET", "/none");
      assertEquals(404, none.statusCode());
      assertEquals("/none is not here; there are /a, /broken, /open\n", none.body());
      assertEquals(405, ask(door, "POST", "/a").statusCode());
      var broken = ask(door, "GET", "/broken");
      assertEquals(500, broken.statusCode());
      assertEquals("the server failed: it broke\n", broken.body());
      assertEquals(403, ask(door, "GET", "/a", "Origin", "http://evil.example").statusCode());
    }
  }

  @Test
  void aPageWhoseNameLeadsHereIsRefused() throws Exception {
    try (var door = open(List.of());
        var open = open(List.of(TOKEN))) {
      assertTrue(raw(door, "evil.example:" + door.port()).startsWith("HTTP/1.1 403"));
      assertTrue(raw(door, "LocalHost:" + door.port()).startsWith("HTTP/1.1 200"));
      assertTrue(raw(door, "[::1]").startsWith("HTTP/1.1 200"));
      // A page knows no token.
      assertTrue(raw(open, "a.example").startsWith("HTTP/1.1 401"));
    }
  }

  private static String raw(HttpDoor door, String host) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), door.port())) {
      String request = "GET /a HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  @Test
  void asksForATokenButForWhatIsOpen() throws Exception {
    try (var door = open(List.of("other", TOKEN))) {
      assertEquals(401, ask(door, "GET", "/a").statusCode());
      assertEquals(401, ask(door, "GET", "/none").statusCode());
      assertEquals(401, ask(door, "GET", "/a", "Authorization", "Bearer wrong").statusCode());
      assertEquals("at /a", ask(door, "GET", "/a", "Authorization", "Bearer " + TOKEN).body());
      assertEquals("little", ask(door, "GET", "/open").body());
      assertEquals("all", ask(door, "GET", "/open", "Authorization", "Bearer " + TOKEN).body());
    }
  }

  @Test
  void dropsARequestWithTooLargeHeaders() throws Exception {
    try (var door = open(List.of());
        var socket = new Socket(InetAddress.getLoopbackAddress(), door.port())) {
      String request = "GET /a HTTP/1.1\r\nHost: h\r\nX: " + "x".repeat(64 << 10) + "\r\n\r\n";
      String answer;
      try {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      } catch (IOException reset) {
        answer = "";
      }
      assertTrue(!answer.contains("at /a"), answer);
      assertEquals("at /a", ask(door, "GET", "/a").body());
    }
  }

  @Test
  void needsAFreePortAndBothFilesOfACertificate() throws Exception {
    try (var door = open(List.of())) {
      var taken = HttpDoor.Config.plain("127.0.0.1", door.port());
      var access = Access.of(IdentitySource.NONE);
      assertThrows(BindException.class, () -> HttpDoor.open(taken, access, Map.of()));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> new HttpDoor.Config("h", 1, java.nio.file.Path.of("c"), null, null));
  }

  /// Answers what it was sent, below a path.
  private static final HttpDoor.Route ECHO =
      new HttpDoor.Route() {
        @Override
        public HttpDoor.Reply reply(HttpDoor.HttpRequest asked) {
          String told = asked.method() + " " + asked.path() + " " + asked.header("x-word") + " ";
          String body = new String(asked.body(), StandardCharsets.UTF_8);
          return HttpDoor.Reply.text(200, "text/plain", told + body).with("X-Answer", "yes");
        }

        @Override
        public Set<String> methods() {
          return Set.of("GET", "PUT");
        }

        @Override
        public int bodyMax() {
          return 10;
        }
      };

  private static HttpDoor serving(HttpDoor.Route route, Duration writeMax) throws IOException {
    return HttpDoor.open(
        HttpDoor.Config.plain("127.0.0.1", 0),
        Access.of(IdentitySource.NONE),
        Map.of("/below/", route),
        writeMax);
  }

  private static HttpResponse<String> put(
      HttpDoor door, HttpRequest.BodyPublisher body, String... headers) throws Exception {
    var uri = URI.create("http://127.0.0.1:" + door.port() + "/below/a/b");
    var request = HttpRequest.newBuilder(uri).PUT(body);
    if (headers.length > 0) request.headers(headers);
    try (var client = HttpClient.newHttpClient()) {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void aRouteGetsTheRequestsBelowItWithTheirBodies() throws Exception {
    try (var door = serving(ECHO, Duration.ofSeconds(30))) {
      var text = HttpRequest.BodyPublishers.ofString("0123456789");
      var answer = put(door, text, "X-Word", "w");
      assertEquals("PUT /below/a/b w 0123456789", answer.body());
      assertEquals("yes", answer.headers().firstValue("X-Answer").orElseThrow());
      var unknown = HttpRequest.BodyPublishers.fromPublisher(text); // without a length
      assertEquals("PUT /below/a/b null 0123456789", put(door, unknown).body());
      var large = HttpRequest.BodyPublishers.ofString("0123456789-");
      assertEquals(413, put(door, large).statusCode());
      assertEquals(413, put(door, HttpRequest.BodyPublishers.fromPublisher(large)).statusCode());
      assertEquals(404, ask(door, "GET", "/elsewhere").statusCode());
      assertEquals(405, ask(door, "DELETE", "/below/a").statusCode());
    }
  }

  @Test
  void aPageOfTheDoorItselfMayAsk() throws Exception {
    try (var door = serving(ECHO, Duration.ofSeconds(30))) {
      String own = "http://127.0.0.1:" + door.port();
      assertEquals(200, ask(door, "GET", "/below/a", "Origin", own).statusCode());
      assertEquals(403, ask(door, "GET", "/below/a", "Origin", own + "1").statusCode());
      assertEquals(403, ask(door, "GET", "/below/a", "Origin", "null").statusCode());
    }
  }

  @Test
  void aClientThatDoesNotReadAStreamIsCutOff() throws Exception {
    var cut = new CompletableFuture<IOException>();
    HttpDoor.Route endless =
        _ ->
            HttpDoor.Reply.stream(
                "text/plain",
                out -> {
                  try {
                    while (true) out.send(new byte[1 << 16]);
                  } catch (IOException gone) {
                    cut.complete(gone);
                    throw gone;
                  }
                });
    try (var door = serving(endless, Duration.ofMillis(200));
        var socket = new Socket(InetAddress.getLoopbackAddress(), door.port())) {
      String request = "GET /below/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      assertNotNull(cut.get(60, TimeUnit.SECONDS));
    }
  }
}
