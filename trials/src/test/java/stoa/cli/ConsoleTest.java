package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.Stoa;
import stoa.StoaConfig;

/// The console in a headless Chromium, which clicks through every view of a store of three servers.
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ConsoleTest {
  private static final List<String> VIEWS =
      List.of(
          "cluster",
          "rates",
          "objects",
          "objects/bank.Account",
          "objects/bank.Account/alice",
          "calls",
          "clients",
          "code");
  private static final int TRANSFER_BYTES_MAX = 32_000;
  private static final Set<String> NAMED =
      Set.of(
          "button",
          "link",
          "textbox",
          "slider",
          "checkbox",
          "combobox",
          "spinbutton",
          "img",
          "image",
          "table",
          "navigation");

  private static ConsoleWorld world;
  private static Browser browser;

  @BeforeAll
  static void open(@TempDir Path directory) throws Exception {
    Optional<Path> chromium = Browser.find();
    if (chromium.isEmpty()) {
      Assumptions.abort(
          "the console is tested in Chromium, which is not here: apt-get install chromium, or name"
              + " the program in "
              + Browser.VARIABLE);
    }
    world = new ConsoleWorld(directory.resolve("store"), Duration.ofMillis(200));
    browser = new Browser(chromium.get(), directory.resolve("profile"));
    browser.show(1280, 900, false);
  }

  @AfterAll
  static void close() throws Exception {
    if (browser != null) browser.close();
    if (world != null) world.close();
  }

  @AfterEach
  void nothingFailsInThePage() {
    assertEquals(List.of(), browser.errors());
  }

  private static void show(String view) throws Exception {
    show(world.url(), view);
  }

  private static void show(String url, String view) throws Exception {
    browser.open("about:blank"); // another part of an address loads nothing
    browser.open(url + "/console/#/" + view);
    browser.await("one('h1') && !one('[aria-busy=true]') && document.title.endsWith('Stoa')");
  }

  private static String body(String... selector) throws Exception {
    String of = selector.length == 0 ? "main" : selector[0];
    return browser.text("document.querySelector('" + of + "').innerText");
  }

  // ---- the views

  @Test
  void theClusterIsAPictureAndATable() throws Exception {
    show("cluster");
    browser.await("all('svg .server').length === 3");
    browser.await("all('.member.leads').length === 3"); // two groups, and the key
    browser.await("all('.lane .member').length === 6");
    String table = body("table");
    assertTrue(
        Pattern.compile("group 0\\s+[abc]\\s+[abc] ?\\s*[abc]").matcher(table).find(), table);
    assertTrue(table.contains("group 1"), table);
    assertTrue(body().contains("servers that answer\n3"), body());
    // The address of the page without a view is the cluster's.
    browser.click("header a", "Stoa");
    browser.await("one('nav [aria-current=page]')?.innerText === 'Cluster'");
  }

  @Test
  @Order(Integer.MAX_VALUE)
  void aServerThatIsLostIsSeen() throws Exception {
    show("cluster");
    String lost = world.lose();
    browser.await("one('.server.away')?.textContent === '%sdoes not answer'".formatted(lost));
    browser.await("text('.facts .bad').includes('2 of 3')");
    browser.await("text('table').includes('%s (does not answer')".formatted(lost));
  }

  @Test
  void ratesAreChartsWithASliderForTheMoment() throws Exception {
    show(world.leading(), "rates");
    assertEquals("12", browser.text("String(document.querySelectorAll('.chart').length)"));
    browser.await("+one('#moment').max > 2 && one('.chart .line0').getAttribute('d') !== ''");
    assertEquals("now", body("output"));
    browser.value("document.getElementById('moment').focus()");
    browser.press("ArrowLeft", 37);
    browser.await("text('output') !== 'now' && one('.cursor').getAttribute('d') !== ''");
    browser.click("button", "15 min");
    browser.await("text('output') === 'now'");
    var calling =
        Thread.ofVirtual()
            .start(() -> {
              // In all groups: the page shows the calls of those that its server leads.
              for (int i = 0; !Thread.currentThread().isInterrupted(); i = (i + 1) % 16) {
                world.stoa().get(ConsoleWorld.Account.class, "busy " + i).deposit(1, "x");
              }
            });
    try {
      browser.await(
          "all('tbody tr').some((row) => /^deposit\\s+bank.Account/.test(row.innerText))");
    } finally {
      calling.interrupt();
      calling.join();
    }
    browser.click("summary", "The samples as a table");
    browser.await("all('details[open] tbody tr').length > 2");
  }

  @Test
  void objectsAreFoundByTypeAndKeyAPageAtATime() throws Exception {
    show("objects");
    browser.click("tbody a", "bank.Account");
    browser.await("all('tbody tr').length === 50 && text('h1') === 'bank.Account'");
    browser.click(".pages a", "Next");
    browser.await("text('main').includes('Objects 51 to 100')");
    browser.click("input[type=checkbox]", "");
    browser.await("text('thead').includes('size') && /\\d B/.test(text('tbody'))");
    browser.click(".pages a", "Previous");
    browser.await("text('main').includes('Objects 1 to 50')");
    browser.click("#key", "");
    browser.type("alice");
    browser.press("Enter", 13);
    browser.await("text('h1') === 'alice' && text('.tree').includes('balance')");
    // A number may be a key of several kinds.
    show("objects/bank.Account/42");
    browser.click("main a", "long:42");
    browser.await("text('h1') === 'long:42' && text('.tree').includes('by number')");
  }

  @Test
  void anObjectIsATreeWhoseVersionsASliderShows() throws Exception {
    show("objects/bank.Account/alice");
    browser.await("text('.tree').includes('9007199254740994')"); // a double has no such number
    browser.await("text('.tree').includes('→ bank.Account[customer-007]')");
    browser.await("all('.tree .changed').length > 0");
    int newest = Integer.parseInt(browser.text("document.getElementById('version').max"));
    browser.value("document.getElementById('version').focus()");
    browser.press("ArrowLeft", 37);
    browser.await("text('.current').startsWith('%d')".formatted(newest - 1));
    browser.await("text('thead').includes('version %d')".formatted(newest - 2));
    browser.press("Home", 36);
    browser.await("text('.entry').startsWith('deposit(1000, \"salary\")')");
    browser.await(
        "text('.tree').includes('9007199254740993') && text('.columns').includes('the whole')");
    browser.click("[aria-label='Next version']", "");
    browser.await("/balance\\s+1000\\s+580/.test(text('table'))");
    browser.value("document.getElementById('number').select()");
    browser.type("5");
    browser.press("Tab", 9);
    browser.click("#against", "");
    browser.type("1");
    browser.press("Tab", 9);
    browser.await("location.hash.endsWith('?at=5&from=1') && text('.columns').includes('SAVINGS')");
    String address = browser.text("location.href");
    browser.click("button", "The one before");
    browser.await("!location.hash.includes('from')");
    browser.open("about:blank");
    browser.open(address);
    browser.await("/kind\\s+GIRO\\s+SAVINGS/.test(text('.columns'))");
    browser.await("text('.current').startsWith('5')"); // the page of calls has the version
    browser.click("button", "Newer");
    browser.await("all('table').at(-1).innerText.includes('deposit(93')");
    browser.click("#results", "");
    browser.await("/version\\s+time\\s+call\\s+by\\s+answer/.test(all('thead').at(-1)?.innerText)");
    browser.click("button", "Older");
    browser.await("text('main').includes('threw IllegalStateException')");
    browser.click("summary", "limits TreeMap 2 entries (has changes)");
    browser.await("!text('.tree').includes('salary 1000')");
  }

  @Test
  void newVersionsAppearWhileTheNewestIsShown() throws Exception {
    var account = world.stoa().get(ConsoleWorld.Account.class, "watched");
    account.deposit(1, "x");
    show("objects/bank.Account/watched");
    browser.await("/balance\\s+1\\n/.test(text('.tree'))");
    account.deposit(6, "x");
    browser.await("/balance\\s+7\\n/.test(text('.tree'))");
  }

  @Test
  void textOfTheStoreIsTextAlone() throws Exception {
    show("objects/bank.Account");
    for (String key : ConsoleWorld.HOSTILE) {
      String shown = key.replaceAll("\\p{Cc}|\u202E|\u202C", "");
      show("objects/bank.Account/" + encoded(key));
      browser.await("text('.tree').includes('note')");
      String page = body().replaceAll("\\\\u[0-9a-f]{4}", "");
      assertTrue(page.contains(shown), () -> shown + " is not in " + page);
      assertTrue(!page.contains("\u202E"), page);
    }
    show("objects/bank.Account?skip=100");
    browser.await("all('tbody tr').length > 20");
    // A type of this name is nowhere; the problem names it.
    show("objects/" + encoded(ConsoleWorld.HOSTILE.getFirst()));
    browser.await("text('.trouble').includes('onerror')");
    assertEquals("undefined", browser.text("typeof globalThis.hacked"));
    assertEquals(
        "0",
        browser.text("String(document.querySelectorAll('main img, script:not([src])').length)"));
    // The browser itself refuses to make elements of text.
    assertEquals(
        "TypeError",
        browser.text(
            "(() => { try { document.body.innerHTML = 'x'; } catch (e) { return e.name; } })()"));
    String violation = browser.error();
    assertTrue(violation.contains("TrustedHTML"), violation);
  }

  private static String encoded(String key) {
    return java.net.URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Test
  void aCallThatDoesNotEndIsSeenWithThoseThatWaitAndCanceled() throws Exception {
    var endless = world.getStuck();
    show("calls");
    browser.await("/run\\s.*runs/.test(text('tbody').replaceAll('\\n', ' '))");
    browser.await(
        "/turns.*waits behind call \\d+, run\\(\\), for/.test(text('tbody').replaceAll('\\n', '"
            + " '))");
    browser.click("tr.runs button", "");
    browser.await("one('dialog[open]')");
    browser.click("dialog button", "Let it go on");
    browser.await("!one('dialog')");
    browser.click("tr.runs button", "");
    browser.click("dialog button", "Cancel the call");
    browser.await("/Call \\d+ is canceled/.test(text('.note')) && text('#said') === text('.note')");
    browser.await("text('tbody').includes('no calls in progress')");
    String failure = endless.get(30, TimeUnit.SECONDS);
    assertTrue(failure.contains("cancel"), failure);
  }

  @Test
  void clientsAreATreeAndSessions() throws Exception {
    show("clients");
    browser.await("all('svg .node').length === 3 && all('svg .node.root').length === 1");
    browser.await(
        "text('table').includes('north/rack-1') && text('table').includes('south/rack-2')");
    browser.await("(all('table').at(-1)?.innerText ?? '').includes('127.0.0.1')");
  }

  @Test
  void codeIsListedWithTheVersionThatExecutes() throws Exception {
    show("code");
    browser.await("/power.Meter\\s+[0-9a-f]{12}\\s+\\d+\\s+(active|replaced)/.test(text('table'))");
    browser.await("all('tr.replaced').length === 1 && text('tr.replaced') !== ''");
    browser.await("all('table').at(-1).innerText.includes('all')");
  }

  // ---- who may look

  @Test
  void aServerWithATokenAsksForIt(@TempDir Path directory) throws Exception {
    try (var server = ConsoleWorld.guarded(directory.resolve("guarded"));
        var client = HttpClient.newHttpClient()) {
      String address = "http://" + server.http();
      // The page is told to everybody, what it asks is not.
      var asked = HttpRequest.newBuilder(URI.create(address + "/v1/overview")).build();
      assertEquals(401, client.send(asked, HttpResponse.BodyHandlers.discarding()).statusCode());
      browser.open("about:blank");
      browser.open(address + "/console/");
      browser.await(
          "one('#token') === document.activeElement && one('#token').type === 'password'");
      browser.type("wrong");
      browser.press("Enter", 13);
      browser.await("text('.trouble').startsWith('the token or certificate is wrong')");
      browser.type(ConsoleWorld.TOKEN);
      browser.click("button", "Open");
      browser.await("text('h1') === 'Cluster' && all('svg .server').length === 1");
      assertEquals("0", browser.text("String(localStorage.length + document.cookie.length)"));
      browser.open(address + "/console/?again");
      browser.await("text('h1') === 'Cluster'");
      browser.click("button", "Forget token");
      browser.await("one('#token')");
      assertEquals("0", browser.text("String(sessionStorage.length)"));
    }
  }

  private static void as(String address, String token) throws Exception {
    browser.open("about:blank");
    browser.open(address + "/console/#/clients");
    browser.await("one('#token') === document.activeElement");
    browser.type(token);
    browser.click("button", "Open");
    browser.await(
        "text('h1') === 'Clients' && (all('table').at(-1)?.innerText ?? '').includes('127.0.0.1')");
  }

  @Test
  void aReaderHasNoButtonsAndAnOperatorEndsASession(@TempDir Path directory) throws Exception {
    try (var server = ConsoleWorld.ofTwo(directory.resolve("two"))) {
      String address = "http://" + server.http();
      var security = ConnectionSecurity.none().withToken("night");
      try (var stoa = Stoa.open(StoaConfig.of(server.url()).withSecurity(security))) {
        stoa.store().put("a", "1");
        as(address, "reader");
        assertEquals("0", browser.text("String(document.querySelectorAll('tbody button').length)"));
        browser.open(address + "/console/?again#/calls");
        browser.await("text('.sub').endsWith('to cancel one needs the role operate')");
        // What the page does not offer, the door refuses.
        String refused =
            browser.text(
                "fetch('../v1/end-session?session=1', {method: 'POST', headers: {Authorization:"
                    + " 'Bearer reader'}}).then((answer) => answer.text())");
        assertTrue(refused.contains("the identity reader has not the role operate"), refused);
        browser.click("button", "Forget token");
        browser.await("one('#token')");
        as(address, "night");
        browser.click("tbody button", "");
        browser.await("one('dialog[open]')");
        browser.click("dialog button", "End the session");
        browser.await(
            "/Session \\d+ has ended/.test(text('.note')) && text('#said') === text('.note')");
        stoa.store().put("a", "2"); // in another session
        assertEquals("2", stoa.store().get("a"));
        browser.click("button", "Forget token");
        browser.await("one('#token')");
      }
    }
  }

  @Test
  void thePageStopsAskingWhileNobodySeesIt() throws Exception {
    browser.open("about:blank");
    JsonObject script = new JsonObject();
    // Waiting takes no time here, so that a page that asks does so in the next frames.
    script.addProperty(
        "source",
        """
        const later = globalThis.setTimeout;
        globalThis.setTimeout = (work) => later(work, 0);
        const fetched = globalThis.fetch;
        globalThis.asked = 0;
        globalThis.fetch = (...of) => { asked++; return fetched(...of); };
        let hidden = false;
        Object.defineProperty(document, "hidden", { get: () => hidden });
        globalThis.hide = (whether) => {
          hidden = whether;
          document.dispatchEvent(new Event("visibilitychange"));
        };
        """);
    String id =
        browser
            .ask("Page.addScriptToEvaluateOnNewDocument", script)
            .get("identifier")
            .getAsString();
    try {
      browser.open(world.url() + "/console/");
      browser.await("asked > 3");
      browser.value("hide(true)");
      String frames =
          """
          (async () => {
            const frames = async (count) => {
              for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
            };
            await frames(20); // for the answers under way
            const before = asked;
            await frames(40);
            return String(asked - before);
          })()
          """;
      assertEquals("0", browser.text(frames));
      browser.value("globalThis.asked = 0; hide(false)");
      browser.await("asked > 3");
      browser.click("button", "Pause");
      assertEquals("0", browser.text(frames));
      browser.value("globalThis.asked = 0");
      browser.click("button", "Resume");
      browser.await("asked > 3");
    } finally {
      var added = new JsonObject();
      added.addProperty("identifier", id);
      browser.ask("Page.removeScriptToEvaluateOnNewDocument", added);
    }
  }

  @Test
  void theFilesAreSmallAndTheirHeadersStrict() throws Exception {
    try (var client = HttpClient.newHttpClient()) {
      var moved = get(client, "/console", "X", "x");
      assertEquals(308, moved.statusCode());
      assertEquals("/console/", moved.headers().firstValue("Location").orElseThrow());
      var page = get(client, "/console/", "X", "x");
      String policy = page.headers().firstValue("Content-Security-Policy").orElseThrow();
      for (String part :
          List.of(
              "default-src 'none'",
              "script-src 'self';",
              "frame-ancestors 'none'",
              "trusted-types")) {
        assertTrue(policy.contains(part), policy);
      }
      assertEquals("nosniff", page.headers().firstValue("X-Content-Type-Options").orElseThrow());
      assertEquals("no-cache", page.headers().firstValue("Cache-Control").orElseThrow());
      String tag = page.headers().firstValue("ETag").orElseThrow();
      var known = get(client, "/console/", "If-None-Match", "\"x\", " + tag);
      assertEquals(304, known.statusCode());
      assertEquals(0, known.body().length);
      assertEquals(404, get(client, "/console/../console/x.js", "X", "x").statusCode());
      int bytes = 0;
      Path files = Path.of("../http/src/main/resources/stoa/http/console");
      try (var all = Files.list(files)) {
        for (Path file : all.toList()) {
          var zipped = get(client, "/console/" + file.getFileName(), "Accept-Encoding", "br, gzip");
          assertEquals(200, zipped.statusCode(), file.toString());
          bytes += zipped.body().length;
          try (var in = new GZIPInputStream(new ByteArrayInputStream(zipped.body()))) {
            assertEquals(
                Files.readString(file), new String(in.readAllBytes(), StandardCharsets.UTF_8));
          }
        }
      }
      assertTrue(bytes < TRANSFER_BYTES_MAX, bytes + " bytes");
    }
  }

  private static HttpResponse<byte[]> get(HttpClient client, String path, String... headers)
      throws Exception {
    var request = HttpRequest.newBuilder(URI.create(world.url() + path)).headers(headers).build();
    return client.send(request, HttpResponse.BodyHandlers.ofByteArray());
  }

  // ---- for everybody

  /// Finds text whose contrast with its background is below 4.5, and content that is wider than the
  /// page.
  private static final String FAINT =
      """
      (() => {
        const color = (text) => {
          const n = text.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
          const scale = text.startsWith("color(") ? 255 : 1;
          return [n[0] * scale, n[1] * scale, n[2] * scale, n[3] ?? 1];
        };
        const over = (top, below) =>
          [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
        const behind = (element) => {
          if (!element) return [255, 255, 255, 1];
          const own = color(getComputedStyle(element).backgroundColor);
          return own[3] === 1 ? own : over(own, behind(element.parentElement));
        };
        const light = ([r, g, b]) => {
          const part = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
          return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
        };
        const faint = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
          const element = node.parentElement;
          if (!node.data.trim() || !element.checkVisibility() || element.closest(".unseen, :disabled, .off")) continue;
          const style = getComputedStyle(element);
          const back = behind(element);
          const front = over(color(element.closest("svg") ? style.fill : style.color), back);
          const [a, b] = [light(front), light(back)].toSorted((x, y) => y - x);
          const contrast = (a + 0.05) / (b + 0.05);
          if (contrast < 4.5) faint.push(`${node.data.trim()}: ${contrast.toFixed(2)}`);
        }
        if (document.documentElement.scrollWidth > innerWidth) {
          faint.push(`the page is ${document.documentElement.scrollWidth} wide`);
        }
        return JSON.stringify(faint);
      })()
      """;

  @Test
  void everyViewIsNamedContrastingAndFitsSmallScreens() throws Exception {
    try {
      for (String view : VIEWS) {
        show(view);
        for (boolean isDark : new boolean[] {false, true}) {
          for (int width : new int[] {1280, 400}) {
            browser.show(width, 900, isDark);
            assertEquals("[]", browser.text(FAINT), view + " at " + width + ", dark: " + isDark);
          }
        }
        var unnamed = new ArrayList<JsonElement>();
        int mains = 0;
        for (JsonObject node : browser.accessible()) {
          String role = node.getAsJsonObject("role").get("value").getAsString();
          if (role.equals("main")) mains++;
          boolean hasName =
              node.has("name")
                  && !node.getAsJsonObject("name").get("value").getAsString().isBlank();
          if (NAMED.contains(role) && !hasName) unnamed.add(node);
        }
        assertEquals(List.of(), unnamed, view);
        assertEquals(1, mains, view);
        assertEquals("1", browser.text("String(document.querySelectorAll('h1').length)"), view);
      }
    } finally {
      browser.show(1280, 900, false);
    }
  }

  @Test
  void theKeyboardReachesEveryView() throws Exception {
    show("cluster");
    browser.press("Tab", 9);
    browser.await("document.activeElement.id === 'skip'");
    browser.press("Enter", 13);
    browser.await("document.activeElement.id === 'main'");
    for (String view : List.of("Rates", "Objects", "Calls", "Clients", "Code", "Cluster")) {
      browser.value(
          "[...document.querySelectorAll('nav a')].find((a) => a.innerText === "
              + new Gson().toJson(view)
              + ").focus()");
      browser.press("Enter", 13);
      browser.await("text('h1') === '" + view + "' && document.activeElement.id === 'main'");
    }
  }
}
