package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Calls, reads and transactions over HTTP.
class HttpObjectsTest {
  private static HttpShopServer server;
  private static HttpClient client;

  @BeforeAll
  static void open() throws IOException {
    server = HttpShopServer.open();
    client = HttpClient.newHttpClient();
  }

  @AfterAll
  static void close() {
    client.close();
    server.close();
  }

  private static HttpResponse<String> send(
      String method, String path, String body, String... headers) throws Exception {
    var uri = URI.create(server.url() + "/v1/" + path);
    var publisher =
        body.isEmpty()
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(body);
    var request =
        HttpRequest.newBuilder(uri)
            .method(method, publisher)
            .header("Content-Type", "application/json");
    if (headers.length > 0) request.headers(headers);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static JsonElement call(String object, String method, String body) throws Exception {
    var answer = send("POST", "objects/" + object + "/call/" + method, body);
    assertTrue(answer.statusCode() < 300, answer.body());
    return JsonParser.parseString(answer.body());
  }

  private static JsonObject problem(HttpResponse<String> answer, int status) {
    assertEquals(status, answer.statusCode(), answer.body());
    assertEquals(
        "application/problem+json", answer.headers().firstValue("Content-Type").orElseThrow());
    return JsonParser.parseString(answer.body()).getAsJsonObject();
  }

  private static String detail(JsonObject problem) {
    return problem.get("detail").getAsString();
  }

  private static JsonElement json(String text) {
    return JsonParser.parseString(text);
  }

  @Test
  void callsAMethodAndReadsAnAccessorNowAndAsItWas() throws Exception {
    String alice = "objects/shop.Account/alice/call/";
    assertEquals("100\n", send("POST", alice + "deposit", "[100]").body());
    assertEquals(204, send("POST", alice + "withdraw", "[30]").statusCode());
    var balance = send("GET", alice + "balance", "");
    assertEquals(200, balance.statusCode());
    assertEquals("70\n", balance.body());
    assertEquals("100\n", send("GET", alice + "balance?at=1", "").body());
    assertEquals("70\n", send("GET", alice + "balance?at=2100-01-01T00:00:00Z", "").body());
    assertEquals("70\n", send("GET", alice + "balance?arguments=%5B%5D", "").body());
    problem(send("GET", alice + "balance?at=99", ""), 404);
    var none = problem(send("GET", alice + "deposit?arguments=%5B1%5D", ""), 405);
    assertTrue(detail(none).contains("use POST"), detail(none));
  }

  private static void echoes(String expected, String method, String body) throws Exception {
    assertEquals(json(expected), call("shop.Catalog/values", method, body), method);
  }

  @Test
  void valuesOfAllKindsPassBothWays() throws Exception {
    String id = "0b6c7c1e-8d0f-4f3e-9a55-2f0c8a6f1d11";
    String price = "{\"amount\": \"12.50\", \"currency\": \"EUR\"}";
    String ref = "{\"@object\": \"shop.Account\", \"@key\": \"bob\"}";
    String id2 = "'" + id + "'";
    var put =
        send(
            "POST",
            "objects/shop.Catalog/values/call/price(java.util.UUID,stoa.cli.HttpShop$Money)"
                .replace("$", "%24"),
            ("[" + id2 + ", " + price + "]").replace('\'', '"'));
    assertEquals(204, put.statusCode(), put.body());
    echoes(price, "price(java.util.UUID)", "[\"" + id + "\"]");
    echoes("{\"" + id + "\": " + price + "}", "prices", "");
    echoes("null", "price(java.util.UUID)", "[\"00000000-0000-0000-0000-000000000000\"]");
    echoes(
        "[[{\"room\": \"a\", \"hour\": 9}, \"RED\"]]",
        "paint",
        "[[[{\"room\": \"a\", \"hour\": 9}, \"RED\"]]]");
    echoes("null", "owner", "");
    assertEquals(
        204, send("POST", "objects/shop.Catalog/values/call/own", "[" + ref + "]").statusCode());
    echoes(ref, "owner", "");
    echoes(ref, "pointed", "[" + ref + "]");
    echoes(
        "[\"AAEC\", \"2026-11-26T14:30:00Z\", [1, 2], [5, \"9007199254740993\"], \"NaN\","
            + " \"x\", \"RED\"]",
        "echo",
        "[\"AAEC\", \"2026-11-26T14:30:00Z\", [1, 2], [5, 9007199254740993], \"NaN\", \"x\"]");
    echoes(
        "{\"@type\": \"Group\", \"parts\": [{\"@type\": \"Circle\", \"radius\": 3.0}]}",
        "grown",
        "[{\"@type\": \"Group\", \"parts\": [{\"@type\": \"Circle\", \"radius\": 1.5}]}, 2]");
    echoes(
        "{\"first\": \"x\", \"second\": [1]}", "swapped", "[{\"first\": [1], \"second\": \"x\"}]");
  }

  @Test
  void argumentsThatDoNotFitAreRefusedByName() throws Exception {
    String deposit = "objects/shop.Account/wrong/call/deposit";
    for (String[] one :
        new String[][] {
          {"[]", "an array of 1: [long"},
          {"{}", "an array of 1: [long"},
          {"[1.5]", "argument 0"},
          {"[9223372036854775808]", "int64"},
          {"[1e400000000]", "digits"},
          {"[null]", "it must be a long"},
          {"[true]", "it must be a whole number"},
          {"[1", "no JSON"},
          {"[1] 2", "is wrong at line 1 column"},
          {"[0x1]", "no JSON"}
        }) {
      JsonObject problem = problem(send("POST", deposit, one[0]), 400);
      assertTrue(detail(problem).contains(one[1]), one[0] + ": " + detail(problem));
    }
    JsonObject negative =
        problem(
            send(
                "POST",
                "objects/shop.Catalog/wrong/call/price(java.util.UUID,stoa.cli.HttpShop%24Money)",
                "[\"0b6c7c1e-8d0f-4f3e-9a55-2f0c8a6f1d11\", {\"amount\": -1}]"),
            400);
    assertTrue(detail(negative).contains("the amount is negative"), detail(negative));
    JsonObject color =
        problem(
            send(
                "POST",
                "objects/shop.Catalog/wrong/call/paint",
                "[[[{\"room\": \"a\", \"hour\": 9}, \"BLUE\"]]]"),
            400);
    assertTrue(detail(color).contains("one of RED, GREEN"), detail(color));
    JsonObject member =
        problem(
            send(
                "POST",
                "objects/shop.Catalog/wrong/call/paint",
                "[[[{\"room\": \"a\", \"time\": 9}, \"RED\"]]]"),
            400);
    assertTrue(detail(member).contains("has a member time"), detail(member));
    problem(send("POST", deposit, "[1]", "Stoa-Timeout", "soon"), 400);
    problem(send("GET", "objects/shop.Account/wrong/call/balance?when=1", ""), 400);
    // Nothing of that has reached the object.
    assertEquals("0\n", send("GET", "objects/shop.Account/wrong/call/balance", "").body());
  }

  @Test
  void whatIsNotThereIsToldWithWhatIs() throws Exception {
    JsonObject type = problem(send("POST", "objects/shop.None/a/call/b", "[]"), 404);
    assertTrue(detail(type).contains("shop.Account, shop.Catalog"), detail(type));
    JsonObject method = problem(send("POST", "objects/shop.Account/a/call/b", "[]"), 404);
    assertTrue(detail(method).contains("deposit"), detail(method));
    JsonObject several = problem(send("POST", "objects/shop.Catalog/a/call/price", "[]"), 404);
    assertTrue(detail(several).contains("price(java.util.UUID)"), detail(several));
    JsonObject path = problem(send("GET", "nothing", ""), 404);
    assertTrue(detail(path).contains("/v1/openapi.json"), detail(path));
    JsonObject filter = problem(send("POST", "objects/shop.Catalog/a/call/matching", "[]"), 422);
    assertTrue(detail(filter).contains("argument 0"), detail(filter));
    assertTrue(detail(filter).contains("declare a record"), detail(filter));
    JsonObject key = problem(send("GET", "objects/shop.Account/long:x/call/balance", ""), 400);
    assertTrue(detail(key).contains("is no key"), detail(key));
    problem(send("DELETE", "objects/shop.Account/none", ""), 404);
  }

  @Test
  void anObjectIsCreatedOnceAndDeleted() throws Exception {
    var made = send("POST", "objects/shop.Account/long:7", "[50]");
    assertEquals(201, made.statusCode(), made.body());
    assertEquals(json("{\"@object\": \"shop.Account\", \"@key\": \"long:7\"}"), json(made.body()));
    assertEquals("50\n", send("GET", "objects/shop.Account/long:7/call/balance", "").body());
    JsonObject again = problem(send("POST", "objects/shop.Account/long:7", "[60]"), 409);
    assertEquals("urn:stoa:problem:AlreadyExists", again.get("type").getAsString());
    assertEquals(204, send("DELETE", "objects/shop.Account/long:7", "").statusCode());
    assertEquals("0\n", send("GET", "objects/shop.Account/long:7/call/balance", "").body());
  }

  @Test
  void anExceptionOfAMethodIsAProblemWithItsClass() throws Exception {
    JsonObject thrown =
        problem(send("POST", "objects/shop.Account/poor/call/withdraw", "[1]"), 422);
    assertEquals("urn:stoa:problem:Thrown", thrown.get("type").getAsString());
    assertEquals(HttpShop.Overdrawn.class.getName(), thrown.get("exception").getAsString());
    assertEquals("there are only 0", detail(thrown));
    assertEquals("1\n", send("GET", "objects/shop.Account/poor/call/withdrawals", "").body());
  }

  @Test
  void aRequestWithAKeyIsMadeOnce() throws Exception {
    String account = "objects/shop.Account/once/call/";
    for (int i = 0; i < 3; i++) {
      var answer = send("POST", account + "deposit", "[10]", "Idempotency-Key", "\"first\"");
      assertEquals("10\n", answer.body());
    }
    JsonObject other =
        problem(send("POST", account + "deposit", "[11]", "Idempotency-Key", "first"), 422);
    assertEquals("urn:stoa:problem:KeyOfOther", other.get("type").getAsString());
    for (int i = 0; i < 2; i++) {
      JsonObject thrown =
          problem(send("POST", account + "withdraw", "[20]", "Idempotency-Key", "second"), 422);
      assertEquals("there are only 10", detail(thrown));
      var done = send("POST", account + "withdraw", "[1]", "Idempotency-Key", "third");
      assertEquals(204, done.statusCode(), done.body());
    }
    assertEquals("2\n", send("GET", account + "withdrawals", "").body());
    Callable<HttpResponse<String>> same =
        () -> send("POST", account + "deposit", "[100]", "Idempotency-Key", "same");
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<HttpResponse<String>> one :
          threads.invokeAll(List.of(same, same, same, same, same))) {
        assertEquals("109\n", one.get().body());
      }
    }
    assertEquals("109\n", send("GET", account + "balance", "").body());
  }

  private static String transfer(String from, String to, long amount) {
    return """
    {"calls": [
      {"type": "shop.Account", "key": "%s", "method": "withdraw", "arguments": [%d]},
      {"type": "shop.Account", "key": "%s", "method": "deposit", "arguments": [%d]}
    ]}\
    """
        .formatted(from, amount, to, amount);
  }

  @Test
  void aTransactionMakesAllCallsOrNone() throws Exception {
    call("shop.Account/from", "deposit", "[100]");
    for (int i = 0; i < 2; i++) {
      var done =
          send("POST", "transactions", transfer("from", "to", 40), "Idempotency-Key", "transfer");
      assertEquals(json("{\"results\": [null, 40]}"), json(done.body()));
    }
    JsonObject thrown = problem(send("POST", "transactions", transfer("to", "from", 50)), 422);
    assertEquals(0, thrown.get("call").getAsInt());
    assertEquals("there are only 40", detail(thrown));
    JsonObject wrong =
        problem(
            send("POST", "transactions", transfer("to", "from", 1).replace("deposit", "none")),
            404);
    assertEquals(1, wrong.get("call").getAsInt());
    String reading =
        """
        {"readOnly": true, "calls": [
          {"type": "shop.Account", "key": "from", "method": "balance"},
          {"type": "shop.Account", "key": "to", "method": "balance"},
          {"type": "shop.Account", "key": "to", "method": "withdrawals"}]}\
        """;
    assertEquals(
        json("{\"results\": [60, 40, 0]}"), json(send("POST", "transactions", reading).body()));
    var sent =
        send(
            "POST",
            "objects/shop.Catalog/bank/call/transfer",
            "[{\"@object\": \"shop.Account\", \"@key\": \"to\"},"
                + " {\"@object\": \"shop.Account\", \"@key\": \"from\"}, 40]");
    assertEquals(204, sent.statusCode(), sent.body());
    assertEquals(
        json("{\"results\": [100, 0, 1]}"), json(send("POST", "transactions", reading).body()));
  }

  @Test
  void theDocumentDescribesEachMethod() throws Exception {
    var document = json(send("GET", "openapi.json", "").body()).getAsJsonObject();
    assertEquals("3.1.0", document.get("openapi").getAsString());
    JsonObject paths = document.getAsJsonObject("paths");
    JsonObject post =
        paths
            .getAsJsonObject("/v1/objects/shop.Account/{key}/call/deposit")
            .getAsJsonObject("post");
    JsonElement arguments =
        post.getAsJsonObject("requestBody")
            .getAsJsonObject("content")
            .getAsJsonObject("application/json")
            .getAsJsonObject("schema")
            .getAsJsonArray("prefixItems")
            .get(0);
    assertEquals("int64", arguments.getAsJsonObject().get("format").getAsString());
    assertFalse(paths.getAsJsonObject("/v1/objects/shop.Account/{key}/call/deposit").has("get"));
    assertTrue(paths.getAsJsonObject("/v1/objects/shop.Account/{key}/call/balance").has("get"));
    JsonObject object = paths.getAsJsonObject("/v1/objects/{type}/{key}");
    assertEquals("state", object.getAsJsonObject("get").get("operationId").getAsString());
    assertEquals("create", object.getAsJsonObject("post").get("operationId").getAsString());
    for (String looked : List.of("objects", "overview", "trends", "top", "code")) {
      assertTrue(paths.getAsJsonObject("/v1/" + looked).has("get"), looked);
    }
    JsonObject schemas = document.getAsJsonObject("components").getAsJsonObject("schemas");
    assertEquals(
        json("[\"RED\", \"GREEN\"]"),
        schemas.getAsJsonObject("stoa.cli.HttpShop.Color").get("enum"));
    assertTrue(
        document.getAsJsonObject("x-stoa-refused").has("shop.Catalog.matching"),
        document.get("x-stoa-refused").toString());
  }

  private static JsonElement get(String path) throws Exception {
    var answer = send("GET", path, "");
    assertEquals(200, answer.statusCode(), answer.body());
    return json(answer.body());
  }

  @Test
  void theQuestionsOfOperatorsHaveTheAnswersOfTheCommands() throws Exception {
    call("shop.Account/looked", "deposit", "[5]");
    call("shop.Account/looked", "deposit", "[6]");
    assertTrue(get("objects").toString().contains("\"type\":\"shop.Account\""));
    JsonObject page = get("objects/shop.Account?max=1").getAsJsonObject();
    assertEquals(1, page.getAsJsonArray("objects").size());
    JsonObject state = get("objects/shop.Account/looked").getAsJsonObject();
    assertEquals(2, state.get("version").getAsInt());
    assertEquals(11, state.getAsJsonObject("state").get("balance").getAsInt());
    JsonObject before = get("objects/shop.Account/looked?at=1").getAsJsonObject();
    assertEquals(5, before.getAsJsonObject("state").get("balance").getAsInt());
    JsonObject history = get("objects/shop.Account/looked/history?results=true").getAsJsonObject();
    JsonObject last = history.getAsJsonArray("entries").get(1).getAsJsonObject();
    assertEquals("deposit(long)", last.get("method").getAsString());
    assertEquals(11, last.get("returned").getAsInt());
    JsonObject difference =
        get("objects/shop.Account/looked/diff?from=1&to=2")
            .getAsJsonObject()
            .getAsJsonArray("differences")
            .get(0)
            .getAsJsonObject();
    assertEquals("balance", difference.get("path").getAsString());
    assertEquals(1, get("status").getAsJsonObject().get("groups").getAsInt());
    assertTrue(get("top?millis=50").getAsJsonObject().has("calls"));
    JsonObject tree = get("objects/shop.Account/looked?as=tree").getAsJsonObject();
    JsonObject root = tree.getAsJsonObject("state");
    assertEquals("OBJECT", root.get("kind").getAsString());
    JsonObject field = root.getAsJsonArray("parts").get(0).getAsJsonObject();
    assertEquals("balance", field.get("name").getAsString());
    assertTrue(field.get("text").getAsJsonPrimitive().isString(), tree::toString);
    JsonObject overview = get("overview").getAsJsonObject();
    assertEquals(1, overview.getAsJsonArray("groups").size());
    assertTrue(overview.getAsJsonArray("sessions").size() > 0, overview::toString);
    problem(send("GET", "objects/shop.Account/looked?as=xml", ""), 400);
    assertTrue(get("code").toString().contains("shop.Account"));
    assertEquals(
        json("[{\"groups\": [0], \"rules\": [\"versions=1000\", \"stoa.Stream=all\"]}]"),
        get("keep"));
    var kept = send("PUT", "keep", "[\"versions=500\"]");
    assertTrue(kept.body().contains("[\"versions=500\","), kept.body());
    send("PUT", "keep", "[\"versions=1000\", \"stoa.Stream=all\"]");
    problem(send("POST", "cancel?call=999999", ""), 404);
    problem(send("GET", "objects/shop.Account/nobody", ""), 404);
    problem(send("GET", "objects/shop.None", ""), 404);
  }

  /// A stream of events, line by line.
  private static Stream<String> listen(String path, String... headers) throws Exception {
    var uri = URI.create(server.url() + "/v1/" + path);
    var request = HttpRequest.newBuilder(uri);
    if (headers.length > 0) request.headers(headers);
    var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofLines());
    assertEquals(200, answer.statusCode());
    assertEquals("text/event-stream", answer.headers().firstValue("Content-Type").orElseThrow());
    return answer.body();
  }

  private static String next(Iterator<String> lines, String prefix) {
    while (true) {
      String line = lines.next();
      if (line.startsWith(prefix)) return line.substring(prefix.length());
    }
  }

  @Test
  void changesOfAnObjectComeAsEventsAndGoOnBehindTheLastOne() throws Exception {
    call("shop.Account/heard", "deposit", "[1]");
    String path = "objects/shop.Account/heard/events";
    try (var stream = listen(path)) {
      call("shop.Account/heard", "deposit", "[2]");
      call("shop.Account/heard", "deposit", "[3]");
      Iterator<String> lines = stream.iterator();
      assertEquals("2", next(lines, "id: "));
      assertEquals("change", next(lines, "event: "));
      JsonObject entry = json(next(lines, "data: ")).getAsJsonObject();
      assertEquals("deposit(long)", entry.get("method").getAsString());
      assertEquals(json("[2]"), entry.get("arguments"));
      assertEquals("3", next(lines, "id: "));
    }
    try (var again = listen(path, "Last-Event-ID", "2")) {
      assertEquals("3", next(again.iterator(), "id: "));
    }
    try (var all = listen(path + "?from=1")) {
      assertEquals("1", next(all.iterator(), "id: "));
    }
    problem(send("GET", "objects/shop.None/a/events", ""), 404);
  }

  @Test
  void putsOfAKeyComeAsEvents() throws Exception {
    problem(send("GET", "values/boiler", ""), 404);
    assertEquals(204, send("PUT", "values/boiler", "{\"degrees\": [80, 1.5]}").statusCode());
    assertEquals(json("{\"degrees\": [80, 1.5]}"), get("values/boiler"));
    try (var stream = listen("values/boiler/events")) {
      Iterator<String> lines = stream.iterator();
      assertEquals(
          json("{\"exists\": true, \"value\": {\"degrees\": [80, 1.5]}}"),
          json(next(lines, "data: ")));
      assertEquals(204, send("PUT", "values/boiler", "\"hot\"").statusCode());
      assertEquals("1", next(lines, "id: "));
      assertEquals(json("{\"exists\": true, \"value\": \"hot\"}"), json(next(lines, "data: ")));
      assertEquals(204, send("DELETE", "values/boiler", "").statusCode());
      assertEquals(json("{\"exists\": false}"), json(next(lines, "data: ")));
    }
    problem(send("DELETE", "values/boiler", ""), 404);
    problem(send("PUT", "values/boiler", "null"), 400);
  }
}
