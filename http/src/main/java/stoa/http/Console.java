package stoa.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import stoa.node.HttpDoor;
import stoa.node.HttpDoor.Reply;

/// The web page for operators: its files, which are the same for everyone. They need no token, as a
/// browser sends none when it opens a page; the page sends the token with what it asks of the
/// interface below [HttpApi#ROOT]. Immutable and thread-safe.
public final class Console implements HttpDoor.Route {
  /// Where its paths begin.
  public static final String ROOT = "/console/";

  private static final String START = "index.html";
  private static final int NOT_MODIFIED = 304;
  private static final int MOVED = 308;
  private static final int HASH_CHARACTERS = 20;

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private static final List<String> NAMES =
      List.of(
          START,
          "console.css",
          "icon.svg",
          "app.js",
          "ask.js",
          "dom.js",
          "words.js",
          "tree.js",
          "chart.js",
          "cluster.js",
          "rates.js",
          "objects.js",
          "object.js",
          "calls.js",
          "clients.js",
          "code.js");

  // The browser runs scripts of these files alone, asks this server alone, makes no HTML of text
  // (trusted types), and shows the page in no frame.
  private static final Map<String, String> SAFETY =
      Map.of(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
              + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
              + " require-trusted-types-for 'script'; trusted-types 'none'",
          "Cross-Origin-Opener-Policy",
          "same-origin",
          "Cross-Origin-Resource-Policy",
          "same-origin",
          "Permissions-Policy",
          "camera=(), geolocation=(), microphone=()",
          "Referrer-Policy",
          "no-referrer",
          "X-Frame-Options",
          "DENY");

  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Page(String type, byte[] bytes, byte[] zipped, String tag) {}

  private final Map<String, Page> pages = new HashMap<>();

  /// Reads the files.
  public Console() {
    for (String name : NAMES) {
      byte[] bytes = read(name);
      String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
      pages.put(name, new Page(Objects.requireNonNull(type), bytes, zipped(bytes), tag(bytes)));
    }
  }

  private static byte[] read(String name) {
    try (InputStream in = Console.class.getResourceAsStream("console/" + name)) {
      if (in == null) throw new IllegalStateException("the program has no console/" + name);
      return in.readAllBytes();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static byte[] zipped(byte[] bytes) {
    var zipped = new ByteArrayOutputStream();
    try (var out = new GZIPOutputStream(zipped)) {
      out.write(bytes);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return zipped.toByteArray();
  }

  /// Returns a weak tag: it is the same for the plain and the compressed form.
  private static String tag(byte[] bytes) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return "W/\"" + HexFormat.of().formatHex(hash).substring(0, HASH_CHARACTERS) + '"';
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }

  /// Returns its routes by their paths.
  public Map<String, HttpDoor.Route> routes() {
    return Map.of(ROOT, this, ROOT.substring(0, ROOT.length() - 1), this);
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public Reply reply(HttpDoor.HttpRequest asked) {
    String path = asked.path();
    if (!path.startsWith(ROOT)) {
      return safe(Reply.text(MOVED, "text/plain", "the console is at " + ROOT + "\n"))
          .with("Location", ROOT);
    }
    String name = path.substring(ROOT.length());
    Page page = pages.get(name.isEmpty() ? START : name);
    if (page == null) {
      return safe(Reply.text(Problem.NOT_FOUND, "text/plain", "the console is at " + ROOT + "\n"));
    }
    Reply reply;
    if (has(asked.header("if-none-match"), page.tag)) {
      reply = new Reply(NOT_MODIFIED, Map.of(), new byte[0], null);
    } else if (has(asked.header("accept-encoding"), "gzip")) {
      reply = Reply.of(200, page.type, page.zipped).with("Content-Encoding", "gzip");
    } else {
      reply = Reply.of(200, page.type, page.bytes);
    }
    // A browser asks each time whether its copy is the present one: a new release is there at once.
    return safe(reply)
        .with("ETag", page.tag)
        .with("Cache-Control", "no-cache")
        .with("Vary", "Accept-Encoding");
  }

  /// Returns whether a list in a header has a member.
  private static boolean has(@Nullable String list, String member) {
    if (list == null) return false;
    for (String one : list.split(",", -1)) {
      if (one.split(";", 2)[0].strip().equals(member)) return true;
    }
    return false;
  }

  private static Reply safe(Reply reply) {
    Reply safe = reply;
    for (var header : SAFETY.entrySet()) safe = safe.with(header.getKey(), header.getValue());
    return safe;
  }
}
