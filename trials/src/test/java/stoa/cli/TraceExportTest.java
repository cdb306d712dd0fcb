package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import stoa.http.HttpApi;
import stoa.node.HttpDoor;

/// The spans that a server sends to a collector.
class TraceExportTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PATH = "/v1/objects/shop.Account/alice/call/deposit";

  private static int call(String url, String traceparent) throws Exception {
    try (var client = HttpClient.newHttpClient()) {
      var request =
          HttpRequest.newBuilder(URI.create(url + PATH))
              .header("Content-Type", "application/json")
              .header("traceparent", traceparent)
              .POST(HttpRequest.BodyPublishers.ofString("[100]"))
              .build();
      return client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    }
  }

  @Test
  void aCollectorReceivesTheSpansOfCallsThatACallerOverHttpRecords() throws Exception {
    var sent = new CompletableFuture<String>();
    var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    HttpServer collector = HttpServer.create(loopback, 0);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          var bytes = new ByteArrayOutputStream();
          exchange.getRequestBody().transferTo(bytes);
          String who = exchange.getRequestHeaders().getFirst("X-Who");
          sent.complete(who + " " + bytes.toString(StandardCharsets.ISO_8859_1));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    var environment =
        Map.of(
            TraceExport.VARIABLE,
            "http://127.0.0.1:" + collector.getAddress().getPort(),
            "OTEL_EXPORTER_OTLP_HEADERS",
            "X-Who=me");
    TraceExport export = Objects.requireNonNull(TraceExport.open(null, false, environment));
    try (var shop = HttpShopServer.open()) {
      shop.server().trace(export.tracer());
      var config = HttpDoor.Config.plain("127.0.0.1", 0);
      try (var door =
          HttpDoor.open(
              config, shop.server().access(), Map.of(HttpApi.ROOT, export.route(shop.api())))) {
        String url = "http://127.0.0.1:" + door.port();
        assertEquals(200, call(url, "00-" + TRACE + "-b7ad6b7169203331-00"));
        assertEquals(200, call(url, "00-" + TRACE + "-b7ad6b7169203331-01"));
        assertEquals(200, call(url, "nonsense"));
      }
      export.close();
      String spans = sent.get(20, TimeUnit.SECONDS);
      assertTrue(spans.startsWith("me "), spans);
      for (String name :
          List.of("POST /v1", "stoa.call", "stoa.batch", "stoa.execute", "deposit")) {
        assertTrue(spans.contains(name), () -> name + " is not in " + spans);
      }
      assertFalse(spans.contains("alice"), spans); // keys are sent by choice alone
      // The call and the request over HTTP, each once.
      assertEquals(2, spans.split("POST /v1|stoa\\.call", -1).length - 1);
    } finally {
      collector.stop(0);
    }
  }

  @Test
  void refusesACollectorThatIsNoAddressOfHttp() {
    assertNull(TraceExport.open(null, false, Map.of()));
    var refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> TraceExport.open("collector:4317", false, Map.of()));
    String told = String.valueOf(refused.getMessage());
    assertTrue(told.contains("http://127.0.0.1:4318"), told);
  }
}
