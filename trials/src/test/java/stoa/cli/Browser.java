package stoa.cli;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A headless Chromium with one page, steered over the DevTools protocol. One test has it, and
/// closes it.
///
/// A test waits for a condition inside of the page, which looks at each frame that it draws.
final class Browser implements AutoCloseable {
  /// Names the program; a test then needs it.
  static final String VARIABLE = "STOA_CHROMIUM";

  private static final List<String> PROGRAMS =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
  private static final String LISTENING = "DevTools listening on ";
  private static final long SECONDS_MAX = 30;
  private static final Gson GSON = new Gson();

  private final Process process;
  private final HttpClient client = HttpClient.newHttpClient();
  private final AtomicInteger number = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonObject>> asked = new ConcurrentHashMap<>();
  private final Map<String, CompletableFuture<JsonObject>> awaited = new ConcurrentHashMap<>();
  private final BlockingQueue<String> errors = new LinkedBlockingQueue<>();
  private final WebSocket socket;
  private String session = "";

  /// Returns where Chromium is, by the variable `STOA_CHROMIUM` or on the path.
  ///
  /// @throws IllegalStateException when the variable names none
  static Optional<Path> find() {
    String named = System.getenv(VARIABLE);
    boolean isNamed = named != null && !named.isEmpty();
    for (String program : isNamed ? List.of(named) : PROGRAMS) {
      for (String folder : System.getenv("PATH").split(File.pathSeparator, -1)) {
        Path file = Path.of(folder).resolve(program);
        if (Files.isExecutable(file)) return Optional.of(file);
      }
    }
    if (isNamed)
      throw new IllegalStateException(VARIABLE + " is " + named + ", which is no program");
    return Optional.empty();
  }

  /// Starts the program, with an empty page.
  ///
  /// @param profile an empty directory for what it keeps
  Browser(Path program, Path profile) throws Exception {
    var command =
        new ArrayList<>(
            List.of(
                program.toString(),
                "--headless=new",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "--no-first-run",
                "--no-proxy-server",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--disable-sync",
                "--hide-scrollbars",
                "about:blank"));
    // The sandbox of Chromium does not start for root.
    if (System.getProperty("user.name").equals("root")) command.add(1, "--no-sandbox");
    process =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectInput(ProcessBuilder.Redirect.PIPE)
            .start();
    try {
      var socketOpened =
          client.newWebSocketBuilder().buildAsync(URI.create(address()), new Listener());
      socket = socketOpened.get(SECONDS_MAX, TimeUnit.SECONDS);
      var page = new JsonObject();
      page.addProperty("url", "about:blank");
      String target = ask("Target.createTarget", page).get("targetId").getAsString();
      var attached = new JsonObject();
      attached.addProperty("targetId", target);
      attached.addProperty("flatten", true);
      session = ask("Target.attachToTarget", attached).get("sessionId").getAsString();
      for (String domain : List.of("Page", "Runtime", "Log", "Accessibility")) {
        ask(domain + ".enable", new JsonObject());
      }
    } catch (Exception | Error failed) {
      process.destroyForcibly();
      throw failed;
    }
  }

  private String address() throws IOException {
    BufferedReader told = process.errorReader();
    var said = new StringBuilder();
    for (String line = told.readLine(); line != null; line = told.readLine()) {
      if (line.startsWith(LISTENING)) {
        Thread.ofPlatform()
            .daemon()
            .name("browser-output")
            .start(() -> told.lines().forEach(_ -> {}));
        return line.substring(LISTENING.length());
      }
      said.append(line).append('\n');
    }
    throw new IllegalStateException("Chromium ended: " + said);
  }

  private final class Listener implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence part, boolean isLast) {
      text.append(part);
      if (isLast) {
        JsonObject message = JsonParser.parseString(text.toString()).getAsJsonObject();
        text.setLength(0);
        if (message.has("id")) {
          var waiting = asked.remove(message.get("id").getAsInt());
          if (waiting != null) waiting.complete(message);
        } else {
          event(message.get("method").getAsString(), message.getAsJsonObject("params"));
        }
      }
      from.request(1);
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      asked.values().forEach(waiting -> waiting.completeExceptionally(error));
    }
  }

  private void event(String method, JsonObject what) {
    var waiting = awaited.remove(method);
    if (waiting != null) waiting.complete(what);
    switch (method) {
      case "Runtime.exceptionThrown" -> errors.add(what.toString());
      case "Runtime.consoleAPICalled" -> {
        if (what.get("type").getAsString().equals("error")) errors.add(what.toString());
      }
      case "Log.entryAdded" -> {
        JsonObject entry = what.getAsJsonObject("entry");
        // Chromium reports each answer with a status of 400 or more; the tests expect some.
        boolean isNetwork = entry.get("source").getAsString().equals("network");
        if (entry.get("level").getAsString().equals("error") && !isNetwork) {
          errors.add(entry.toString());
        }
      }
      default -> {}
    }
  }

  /// Sends a command, and waits for its result.
  JsonObject ask(String method, JsonObject parameters)
      throws ExecutionException, InterruptedException, TimeoutException {
    int id = number.incrementAndGet();
    var message = new JsonObject();
    message.addProperty("id", id);
    message.addProperty("method", method);
    message.add("params", parameters);
    if (!session.isEmpty()) message.addProperty("sessionId", session);
    var answer = new CompletableFuture<JsonObject>();
    asked.put(id, answer);
    socket.sendText(GSON.toJson(message), true).get(SECONDS_MAX, TimeUnit.SECONDS);
    JsonObject told = answer.get(SECONDS_MAX, TimeUnit.SECONDS);
    if (told.has("error")) throw new IllegalStateException(method + ": " + told.get("error"));
    return told.getAsJsonObject("result");
  }

  private JsonObject ask(String method, Map<String, ?> parameters) throws Exception {
    return ask(method, GSON.toJsonTree(parameters).getAsJsonObject());
  }

  // ---- pages

  /// Opens a page, and waits until it is loaded.
  void open(String url) throws Exception {
    var loaded = new CompletableFuture<JsonObject>();
    awaited.put("Page.loadEventFired", loaded);
    ask("Page.navigate", Map.of("url", url));
    loaded.get(SECONDS_MAX, TimeUnit.SECONDS);
  }

  /// Returns the value of an expression of JavaScript; of a promise, the value with which it ends.
  JsonElement value(String expression) throws Exception {
    JsonObject told =
        ask(
            "Runtime.evaluate",
            Map.of("expression", expression, "awaitPromise", true, "returnByValue", true));
    if (told.has("exceptionDetails")) {
      throw new IllegalStateException(expression + ": " + told.get("exceptionDetails"));
    }
    JsonElement value = told.getAsJsonObject("result").get("value");
    return value == null ? com.google.gson.JsonNull.INSTANCE : value;
  }

  /// Returns the text of an expression.
  String text(String expression) throws Exception {
    return value(expression).getAsString();
  }

  /// Waits until a condition of JavaScript holds; it may use `all(selector)`, `one(selector)` and
  /// `text(selector)`.
  void await(String condition) throws Exception {
    try {
      value(
          """
          new Promise((done) => {
            const all = (selector) => [...document.querySelectorAll(selector)];
            const one = (selector) => document.querySelector(selector);
            const text = (selector) => one(selector)?.innerText ?? "";
            const look = () => {
              if (%s) done(true);
              else requestAnimationFrame(look);
            };
            look();
          })
          """
              .formatted(condition));
    } catch (TimeoutException late) {
      throw new AssertionError(
          condition + " does not become true in:\n" + text("document.body.innerText") + errors,
          late);
    }
  }

  /// Clicks on the middle of the element that a selector finds, and that has a text or label.
  ///
  /// @param label empty for any
  void click(String selector, String label) throws Exception {
    String found =
        "[...document.querySelectorAll(%s)].find((e) => e.checkVisibility() && (%s === '' ||"
                .formatted(GSON.toJson(selector), GSON.toJson(label))
            + " (e.getAttribute('aria-label') ?? e.innerText).trim().replace(/\\s+/g, ' ') === %s))"
                .formatted(GSON.toJson(label));
    await("(" + found + ") !== undefined");
    JsonArray place =
        value(
                """
                (() => {
                  const element = %s;
                  element.scrollIntoView({ block: "center", behavior: "instant" });
                  const box = element.getBoundingClientRect();
                  return [box.x + box.width / 2, box.y + box.height / 2];
                })()
                """
                    .formatted(found))
            .getAsJsonArray();
    double x = place.get(0).getAsDouble();
    double y = place.get(1).getAsDouble();
    for (String type : List.of("mouseMoved", "mousePressed", "mouseReleased")) {
      ask(
          "Input.dispatchMouseEvent",
          Map.of("type", type, "x", x, "y", y, "button", "left", "clickCount", 1));
    }
  }

  /// Presses a key in the element that has the focus.
  ///
  /// @param code the number of the key, as 13 for Enter
  void press(String key, int code) throws Exception {
    String text = key.equals("Enter") ? "\r" : "";
    for (String type : List.of("keyDown", "keyUp")) {
      ask(
          "Input.dispatchKeyEvent",
          Map.of(
              "type", type, "key", key, "code", key, "text", text, "windowsVirtualKeyCode", code));
    }
  }

  /// Types text into the element that has the focus.
  void type(String text) throws Exception {
    ask("Input.insertText", Map.of("text", text));
  }

  /// Sets the size of the page, and whether its user prefers dark colors.
  void show(int width, int height, boolean isDark) throws Exception {
    ask(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    var feature = Map.of("name", "prefers-color-scheme", "value", isDark ? "dark" : "light");
    ask("Emulation.setEmulatedMedia", Map.of("features", List.of(feature)));
  }

  /// Returns the page, with all that is below the window, as a picture in PNG.
  byte[] picture() throws Exception {
    return captured(Map.of("format", "png", "captureBeyondViewport", true));
  }

  /// Returns what the window shows of the page, as a picture in PNG.
  byte[] window() throws Exception {
    return captured(Map.of("format", "png"));
  }

  private byte[] captured(Map<String, ?> how) throws Exception {
    String data = ask("Page.captureScreenshot", how).get("data").getAsString();
    return Base64.getDecoder().decode(data);
  }

  /// Returns what assistive programs see of the page: role and name of each element that they tell.
  List<JsonObject> accessible() throws Exception {
    var nodes = new ArrayList<JsonObject>();
    for (JsonElement one : ask("Accessibility.getFullAXTree", Map.of()).getAsJsonArray("nodes")) {
      if (!one.getAsJsonObject().get("ignored").getAsBoolean()) nodes.add(one.getAsJsonObject());
    }
    return nodes;
  }

  /// Returns the errors of scripts and violations of the page's policy since this was asked last.
  List<String> errors() {
    var told = new ArrayList<String>();
    errors.drainTo(told);
    return told;
  }

  /// Waits for such an error.
  String error() throws InterruptedException {
    String told = errors.poll(SECONDS_MAX, TimeUnit.SECONDS);
    if (told == null) throw new AssertionError("the page has told no error");
    return told;
  }

  @Override
  public void close() {
    socket.abort();
    client.shutdownNow();
    process.destroy();
    process.onExit().orTimeout(SECONDS_MAX, TimeUnit.SECONDS).exceptionally(_ -> kill()).join();
  }

  private Process kill() {
    return process.destroyForcibly();
  }
}
