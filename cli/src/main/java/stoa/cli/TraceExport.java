package stoa.cli;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.base.Trace;
import stoa.base.TraceParent;
import stoa.base.Tracer;
import stoa.node.HttpDoor;
import stoa.traces.StoaTraces;

/// Sends the spans of a server to a collector, by OTLP over HTTP. Thread-safe.
///
/// Spans wait in a queue of 2,048; the exporter drops others while the collector does not take
/// them.
final class TraceExport implements AutoCloseable {
  /// The variable of OpenTelemetry that names the collector.
  static final String VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT";

  private static final String TRACES_VARIABLE = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  private static final String NAME_VARIABLE = "OTEL_SERVICE_NAME";
  private static final String HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS";
  private static final String PATH = "v1/traces";
  private static final String HEADER = "traceparent";
  private static final int FAILED = 500;
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final OpenTelemetrySdk sdk;
  private final Tracer tracer;

  private TraceExport(String endpoint, String service, Map<String, String> headers, boolean keys) {
    var exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(endpoint)
            .setHeaders(() -> headers)
            .setTimeout(PATIENCE)
            .build();
    var resource = Resource.create(Attributes.builder().put("service.name", service).build());
    sdk =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .setResource(Resource.getDefault().merge(resource))
                    .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
                    .build())
            .build();
    var recording = StoaTraces.of(sdk);
    tracer = (keys ? recording.withKeys() : recording).tracer();
  }

  /// Begins to send; returns null when neither the option nor the environment names a collector.
  ///
  /// @param url of the collector, as the option says; null for none
  /// @param keys whether the keys of objects are sent, too
  /// @throws IllegalArgumentException when the address is no URL of HTTP
  static @Nullable TraceExport open(
      @Nullable String url, boolean keys, Map<String, String> environment) {
    String endpoint = url == null ? environment.get(VARIABLE) : url;
    String whole = url == null ? environment.get(TRACES_VARIABLE) : null;
    if (whole == null || whole.isEmpty()) {
      if (endpoint == null || endpoint.isEmpty()) return null;
      whole = endpoint.endsWith("/") ? endpoint + PATH : endpoint + "/" + PATH;
    }
    String scheme;
    try {
      scheme = URI.create(whole).getScheme();
    } catch (IllegalArgumentException malformed) {
      scheme = null;
    }
    if (!Set.of("http", "https").contains(String.valueOf(scheme))) {
      throw new IllegalArgumentException(
          "traces cannot be sent to "
              + whole
              + "; give the URL of a collector for OTLP over HTTP, such as http://127.0.0.1:4318");
    }
    String service = environment.getOrDefault(NAME_VARIABLE, "stoa");
    return new TraceExport(
        whole, service, headers(environment.getOrDefault(HEADERS_VARIABLE, "")), keys);
  }

  /// Reads headers such as those with which a collector knows who sends: NAME=VALUE, with commas
  /// between them, and values encoded as in URLs.
  private static Map<String, String> headers(String text) {
    var headers = new HashMap<String, String>();
    for (String header : text.split(",", -1)) {
      int end = header.indexOf('=');
      if (header.isBlank()) continue;
      if (end < 1) {
        throw new IllegalArgumentException(
            HEADERS_VARIABLE + " has a header without a value; write NAME=VALUE,NAME=VALUE");
      }
      headers.put(
          header.substring(0, end).strip(),
          URLDecoder.decode(header.substring(end + 1).strip(), StandardCharsets.UTF_8));
    }
    return headers;
  }

  /// Returns the port through which the server records.
  Tracer tracer() {
    return tracer;
  }

  /// Returns a route that records the requests whose header names a trace.
  HttpDoor.Route route(HttpDoor.Route route) {
    return new HttpDoor.Route() {
      @Override
      public HttpDoor.Reply reply(HttpDoor.HttpRequest asked) throws Exception {
        String header = asked.header(HEADER);
        TraceParent parent = header == null ? null : TraceParent.parse(header);
        Trace trace = parent == null ? null : tracer.served(parent, asked.method() + " /v1");
        return trace == null ? route.reply(asked) : replied(route, asked, trace);
      }

      @Override
      public boolean isOpen() {
        return route.isOpen();
      }

      @Override
      public Set<String> methods() {
        return route.methods();
      }

      @Override
      public int bodyMax() {
        return route.bodyMax();
      }

      @Override
      public HttpDoor.Reply refusal(int status, String reason) {
        return route.refusal(status, reason);
      }
    };
  }

  private HttpDoor.Reply replied(HttpDoor.Route route, HttpDoor.HttpRequest asked, Trace trace)
      throws Exception {
    Throwable failure = null;
    try {
      trace.tag("http.request.method", asked.method());
      if (tracer.showsKeys()) trace.tag("url.path", asked.path());
      HttpDoor.Reply reply = trace.run(() -> route.reply(asked));
      trace.tag("http.response.status_code", reply.status());
      if (reply.status() >= FAILED) trace.fail("status " + reply.status());
      return reply;
    } catch (Exception thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      trace.end(failure);
    }
  }

  /// Sends what waits, for at most a few seconds, and ends.
  @Override
  public void close() {
    var _ = sdk.getSdkTracerProvider().shutdown().join(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    sdk.close();
  }
}
