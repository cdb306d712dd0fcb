package stoa.http;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Stoa;
import stoa.node.HttpDoor;
import stoa.node.HttpDoor.Reply;
import stoa.node.access.Caller;

/// The interface of a server for programs that speak HTTP and JSON. Thread-safe.
///
/// It answers the paths below `/v1/`. Others add paths for what operators ask.
public final class HttpApi implements HttpDoor.Route, AutoCloseable {
  /// Where its paths begin.
  public static final String ROOT = "/v1/";

  private static final Logger LOG = LoggerFactory.getLogger(HttpApi.class);
  private static final int BODY_MAX = 8 << 20;
  private static final int REQUESTS_MAX = 64;

  /// Answers requests.
  @FunctionalInterface
  public interface Handler {
    /// Answers a request.
    ///
    /// @throws Exception a [Problem], or what the store throws
    Reply reply(Asking asking) throws Exception;
  }

  private record Path(List<String> parts, Map<String, Handler> handlers) {
    /// Returns the variable parts of a path; null when it is another path.
    @Nullable List<String> variables(List<String> path) {
      if (path.size() != parts.size()) return null;
      var variables = new ArrayList<String>();
      for (int i = 0; i < parts.size(); i++) {
        String part = parts.get(i);
        if (part.startsWith("{")) variables.add(path.get(i));
        else if (!part.equals(path.get(i))) return null;
      }
      return variables;
    }
  }

  /// The description of a path that is the same in every store.
  ///
  /// @param method of HTTP
  /// @param path below the root
  /// @param id the name of the operation
  /// @param summary one sentence
  /// @param query the names of its parameters
  record Described(String method, String path, String id, String summary, List<String> query) {}

  private final StoreClients clients;
  private final List<Path> paths = new ArrayList<>();
  private final List<Described> described = new ArrayList<>();
  private final List<Runnable> closings = new ArrayList<>();
  private final EventStreams streams = new EventStreams();
  private final Semaphore requests = new Semaphore(REQUESTS_MAX);

  /// Creates it.
  ///
  /// @param source tells the code of the store
  /// @param loader has the classes of the server
  /// @param names the shared classes among them
  /// @param opening connects to the store for a client, on a thread whose context loader has the
  ///   classes
  /// @param pasts the pasts of objects, for a client
  public HttpApi(
      CodeSource source,
      ClassLoader loader,
      Collection<String> names,
      Function<Caller, Stoa> opening,
      Function<Caller, Pasts> pasts) {
    clients =
        new StoreClients(
            caller -> new StoreClient(source, loader, names, () -> opening.apply(caller)));
    var calls = new Calls(clients, pasts);
    add("GET", "openapi.json", asking -> new OpenApi(clients.of(asking), described).reply(asking));
    add("POST", "transactions", calls::transact);
    add("POST", "objects/{type}/{key}", calls::create);
    add("DELETE", "objects/{type}/{key}", calls::delete);
    add("GET", "objects/{type}/{key}/call/{method}", calls::get);
    add("POST", "objects/{type}/{key}/call/{method}", calls::call);
    var values = new Values(clients, streams);
    add("GET", "objects/{type}/{key}/events", new ObjectEvents(clients, pasts, streams)::reply);
    add("GET", "values/{key}", values::get);
    add("PUT", "values/{key}", values::put);
    add("DELETE", "values/{key}", values::remove);
    add("GET", "values/{key}/events", values::events);
  }

  /// Adds a path, before the first request.
  ///
  /// @param method of HTTP
  /// @param path below the root; a part in braces stands for any
  public void add(String method, String path, Handler handler) {
    List<String> parts = List.of(path.split("/", -1));
    for (Path known : paths) {
      if (!known.parts.equals(parts)) continue;
      known.handlers.put(method, handler);
      return;
    }
    paths.add(new Path(parts, new HashMap<>(Map.of(method, handler))));
  }

  /// Describes a path in the document, before the first request.
  ///
  /// @param method of HTTP
  /// @param path below the root
  /// @param id the name of the operation
  /// @param summary one sentence
  /// @param query the names of its parameters
  public void describe(String method, String path, String id, String summary, String... query) {
    described.add(new Described(method, path, id, summary, List.of(query)));
  }

  /// Has something closed together with this.
  public void closing(Runnable close) {
    closings.add(close);
  }

  @Override
  public Set<String> methods() {
    return Set.of("GET", "POST", "PUT", "DELETE");
  }

  @Override
  public int bodyMax() {
    return BODY_MAX;
  }

  @Override
  public Reply refusal(int status, String reason) {
    String name =
        switch (status) {
          case 401 -> "Unauthenticated";
          case 403 -> "Forbidden";
          case Problem.NO_SUCH_METHOD -> "NoSuchMethod";
          case Problem.TOO_LARGE -> "TooLarge";
          case Problem.TOO_MANY, Problem.UNAVAILABLE -> "Busy";
          default -> "Failed";
        };
    return new Problem(status, name, reason).reply();
  }

  @Override
  public Reply reply(HttpDoor.HttpRequest asked) {
    if (!requests.tryAcquire()) {
      return refusal(
          Problem.TOO_MANY, "the server answers " + REQUESTS_MAX + " requests now; try again soon");
    }
    try {
      return answer(asked);
    } catch (Throwable failed) {
      Problem problem = Problem.of(failed);
      if (problem.status() == Problem.FAILED) LOG.warn("{} failed", asked.path(), failed);
      else LOG.debug("{} is answered with {}", asked.path(), problem.status(), failed);
      return problem.reply();
    } finally {
      requests.release();
    }
  }

  private Reply answer(HttpDoor.HttpRequest asked) throws Exception {
    var parts = new ArrayList<String>();
    String below = asked.uri().getRawPath().substring(ROOT.length());
    for (String part : below.split("/", -1)) parts.add(Asking.decoded(part));
    for (Path path : paths) {
      List<String> variables = path.variables(parts);
      if (variables == null) continue;
      Handler handler = path.handlers.get(asked.method());
      if (handler != null) return handler.reply(new Asking(asked, variables));
      throw new Problem(
          Problem.NO_SUCH_METHOD,
          "NoSuchMethod",
          asked.method() + " is not possible here; use one of " + path.handlers.keySet());
    }
    var all = new StringJoiner(", ");
    for (Path path : paths) all.add(ROOT + String.join("/", path.parts));
    throw Problem.absent(asked.path() + " is not here; there are " + all);
  }

  @Override
  public void close() {
    closings.forEach(Runnable::run);
    streams.close();
    clients.close();
  }
}
