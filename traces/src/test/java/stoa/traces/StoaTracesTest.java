package stoa.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.KeyHandler;
import stoa.ListenerLimits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;

class StoaTracesTest {
  @Shared(name = "traces.Account")
  static class Account {
    static volatile CountDownLatch running = new CountDownLatch(0);
    static volatile CountDownLatch mayEnd = new CountDownLatch(0);

    private long balance;

    public long deposit(long amount) {
      balance += amount;
      return balance;
    }

    public void move(Account to, long amount) {
      balance -= amount;
      to.deposit(amount);
    }

    public void refuse() {
      throw new IllegalStateException("no");
    }

    public long hold() throws InterruptedException {
      running.countDown();
      mayEnd.await();
      return balance;
    }

    @Accessor
    public long balance() {
      return balance;
    }
  }

  /// Tells a listener each value.
  static class Passing implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String now, @Nullable String before) {
      return now;
    }
  }

  private final CountDownLatch handled = new CountDownLatch(1);

  /// Learns that a listener has handled an event.
  private final class Awaiting implements SpanProcessor {
    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      if (span.getName().equals("listener")) handled.countDown();
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }

  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
  private final OpenTelemetrySdk sdk =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                  .addSpanProcessor(new Awaiting())
                  .build())
          .build();
  private final io.opentelemetry.api.trace.Tracer tracer = sdk.getTracer("test");
  private Server server;

  @BeforeEach
  void serve() throws IOException {
    var service = ObjectService.of(new EmbeddedEngine().open(StoaConfig.of("memory:")), _ -> true);
    server = Server.start(ServerConfig.of("127.0.0.1", 0), service);
    server.trace(StoaTraces.of(sdk).withKeys().tracer());
  }

  @AfterEach
  void close() {
    server.close();
    sdk.close();
  }

  private interface Body {
    void run() throws Exception;
  }

  /// Runs a body within a span, and returns the tree of spans below it.
  private String traced(Body body) throws Exception {
    exporter.reset();
    Span root = tracer.spanBuilder("program").startSpan();
    try (var _ = root.makeCurrent()) {
      body.run();
    } finally {
      root.end();
    }
    List<SpanData> spans = exporter.getFinishedSpanItems();
    for (SpanData span : spans) assertEquals(root.getSpanContext().getTraceId(), span.getTraceId());
    var out = new StringBuilder();
    var told = new ArrayList<SpanData>();
    tell(root.getSpanContext().getSpanId(), "", spans, out, told);
    assertEquals(spans.size() - 1, told.size(), () -> "spans without their parent: " + spans);
    return out.toString();
  }

  private static void tell(
      String parent, String indent, List<SpanData> all, StringBuilder out, List<SpanData> told) {
    all.stream()
        .filter(span -> span.getParentSpanId().equals(parent))
        .sorted(Comparator.comparingLong(SpanData::getStartEpochNanos))
        .forEach(span -> {
          told.add(span);
          boolean failed = span.getStatus().getStatusCode() == StatusCode.ERROR;
          out.append(indent).append(span.getName()).append(failed ? " failed" : "").append('\n');
          tell(span.getSpanId(), indent + "  ", all, out, told);
        });
  }

  private SpanData named(String name) {
    return exporter.getFinishedSpanItems().stream()
        .filter(span -> span.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private Stoa open(int port) {
    Stoa stoa = Stoa.open("stoa://127.0.0.1:" + port);
    var _ = StoaTraces.of(sdk).withKeys().bindTo(stoa);
    return stoa;
  }

  @Test
  void aCallAtAServerIsOneTreeDownToItsNestedCall() throws Exception {
    try (Stoa stoa = open(server.port())) {
      Account a = stoa.get(Account.class, "a");
      Account b = stoa.get(Account.class, "b");
      a.move(b, 1);
      String tree = traced(() -> a.move(b, 5));
      assertEquals(
          """
          traces.Account/move(stoa.Ref,long)
            stoa.call
              stoa.queue
              stoa.batch
              stoa.wait
              stoa.execute
                traces.Account/deposit(long)
                  stoa.queue
                  stoa.batch
                  stoa.wait
                  stoa.execute
          """,
          tree.replaceAll("move\\(.*?\\)", "move(stoa.Ref,long)"));
      var attributes = named("stoa.call").getAttributes();
      assertEquals("traces.Account", attributes.get(AttributeKey.stringKey("stoa.type")));
      assertTrue(attributes.get(AttributeKey.stringKey("stoa.key")).contains("a"));
      assertNotNull(attributes.get(AttributeKey.stringKey("stoa.address")));
      assertNotNull(attributes.get(AttributeKey.stringKey("stoa.request")));
      assertEquals(0, attributes.get(AttributeKey.longKey("stoa.group")));
      var batch = named("stoa.batch").getAttributes();
      assertTrue(batch.get(AttributeKey.longKey("stoa.batch.entries")) >= 1);
      assertEquals(6, b.balance());
      assertEquals(
          "traces.Account/balance()\n  stoa.call\n    stoa.queue\n    stoa.execute\n",
          traced(a::balance));
    }
  }

  @Test
  void aMethodThatThrowsFailsItsSpans() throws Exception {
    try (Stoa stoa = open(server.port())) {
      Account a = stoa.get(Account.class, "a");
      assertThrows(IllegalStateException.class, a::refuse);
      String tree = traced(() -> assertThrows(IllegalStateException.class, a::refuse));
      assertEquals(
          """
          traces.Account/refuse() failed
            stoa.call failed
              stoa.queue
              stoa.batch
              stoa.wait
              stoa.execute
          """,
          tree);
      assertEquals("no", named("traces.Account/refuse()").getStatus().getDescription());
      assertEquals("the method threw", named("stoa.call").getStatus().getDescription());
    }
  }

  @Test
  void aTransactionIsOneTreeWithItsAttempts() throws Exception {
    try (Stoa stoa = open(server.port());
        Stoa other = Stoa.open("stoa://127.0.0.1:" + server.port())) {
      Account a = stoa.get(Account.class, "a");
      Account b = stoa.get(Account.class, "b");
      Account same = other.get(Account.class, "a");
      a.move(b, 1);
      stoa.transact(() -> a.deposit(1));
      var attempts = new ArrayList<Integer>();
      String tree =
          traced(() ->
              stoa.transact(() -> {
                attempts.add(attempts.size());
                if (attempts.size() == 1) {
                  var _ = a.balance();
                  Thread.ofVirtual().start(() -> same.deposit(1)).join();
                }
                a.move(b, 5);
              }));
      assertEquals(
          """
          transaction
            attempt failed
              traces.Account/balance()
                stoa.call
                  stoa.queue
                  stoa.execute
              traces.Account/move()
                stoa.call
                  traces.Account/deposit(long)
              commit
                stoa.commit failed
                  stoa.queue
                  stoa.batch failed
            attempt
              traces.Account/move()
                stoa.call
                  traces.Account/deposit(long)
              commit
                stoa.commit
                  stoa.queue
                  stoa.batch
                  stoa.wait
          """,
          tree.replaceAll("move\\(.*?\\)", "move()"));
    }
  }

  @Test
  void aCallThatIsSentAgainStaysInItsTrace() throws Exception {
    try (var relay = new Relay(server.port());
        Stoa stoa = open(relay.port())) {
      Account a = stoa.get(Account.class, "a");
      Account.running = new CountDownLatch(1);
      Account.mayEnd = new CountDownLatch(1);
      String tree =
          traced(() -> {
            var held = stoa.async(a, Account::hold);
            Account.running.await();
            relay.cut();
            // The client is connected again when another call has an answer.
            try (var _ = Context.root().makeCurrent()) {
              stoa.get(Account.class, "b").deposit(1);
            }
            Account.mayEnd.countDown();
            var _ = held.get(20, TimeUnit.SECONDS);
          });
      assertEquals(
          """
          traces.Account/hold()
            stoa.call
              stoa.queue
              stoa.batch
              stoa.wait
              stoa.execute
          """,
          tree);
      assertEquals("stoa.sent.again", named("traces.Account/hold()").getEvents().get(0).getName());
    }
  }

  @Test
  void recordsAnEmbeddedStoreAndAsynchronousCalls() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      StoaTraces traces = StoaTraces.of(sdk).bindTo(stoa);
      Account a = stoa.get(Account.class, "a");
      a.deposit(0);
      String tree =
          traced(() -> {
            assertEquals(5, stoa.async(a, at -> at.deposit(5)).get(20, TimeUnit.SECONDS));
            stoa.store().put("k", "v");
            assertTrue(stoa.delete(a));
          });
      String logged = "  stoa.queue\n  stoa.batch\n  stoa.wait\n  stoa.execute\n";
      assertEquals(
          "traces.Account/deposit(long)\n"
              + logged
              + "put\n"
              + logged
              + "traces.Account/delete\n"
              + logged.replace("  stoa.execute\n", ""),
          tree);
      traces.close();
      assertEquals("", traced(() -> stoa.get(Account.class, "a").deposit(1)));
    }
  }

  @Test
  void aListenerHandlesAnEventInTheTraceOfItsPut() throws Exception {
    try (Stoa stoa = open(server.port())) {
      var heard = new CompletableFuture<String>();
      var listening =
          stoa.store()
              .register(
                  "k",
                  event -> heard.complete(String.valueOf(event.value())),
                  new Passing(),
                  ListenerLimits.STANDARD);
      String tree =
          traced(() -> {
            stoa.store().put("k", "v");
            assertEquals("v", heard.get(20, TimeUnit.SECONDS));
            assertTrue(handled.await(20, TimeUnit.SECONDS));
          });
      listening.close();
      assertEquals(
          """
          put
            stoa.key_put
              stoa.queue
              stoa.batch
              stoa.wait
              stoa.execute
                listener
          """,
          tree);
    }
  }

  @Test
  void recordsNothingThatTheCallerDoesNotRecord() throws Exception {
    try (Stoa stoa = open(server.port())) {
      Account a = stoa.get(Account.class, "a");
      a.deposit(1);
      assertEquals(List.of(), exporter.getFinishedSpanItems());
      var unsampled =
          SpanContext.create(
              "0af7651916cd43dd8448eb211c80319c",
              "b7ad6b7169203331",
              TraceFlags.getDefault(),
              TraceState.getDefault());
      try (var _ = Span.wrap(unsampled).makeCurrent()) {
        a.deposit(1);
      }
      assertEquals(List.of(), exporter.getFinishedSpanItems());
    }
  }
}
