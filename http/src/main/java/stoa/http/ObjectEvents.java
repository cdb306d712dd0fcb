package stoa.http;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import stoa.History;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.node.HttpDoor.Reply;
import stoa.node.access.Caller;

/// The changes of an object as server-sent events: each entry of its stream is an event, whose id
/// is the version. A client that comes again with its last id misses none and gets none twice.
/// Thread-safe.
final class ObjectEvents {
  private static final int PAGE = 100;
  private static final String LAST = "last-event-id";

  private final StoreClients clients;
  private final Function<Caller, Pasts> pasts;
  private final EventStreams streams;

  ObjectEvents(StoreClients clients, Function<Caller, Pasts> pasts, EventStreams streams) {
    this.clients = clients;
    this.pasts = pasts;
    this.streams = streams;
  }

  /// Answers `GET …/KEY/events`.
  Reply reply(Asking asking) {
    asking.allow("from");
    String type = asking.variable(0);
    String key = asking.variable(1);
    long seen;
    try (var use = clients.of(asking).useOf(List.of(type))) {
      long first = asking.number("from", 0);
      String last = asking.header(LAST);
      if (last != null && last.matches("\\d{1,18}")) seen = Long.parseLong(last);
      else if (first > 0) seen = first - 1;
      else seen = history(use, type, key).version();
    }
    return streams.reply(out -> run(out, asking.caller(), type, key, seen));
  }

  private static History<?> history(StoreClient.Use use, String type, String key) {
    Operations known = use.operations(type);
    return use.stoa().history(use.stoa().get(known.type().face(), use.shares().key(key)));
  }

  private void run(EventStreams.Sending out, Caller caller, String type, String key, long from)
      throws IOException, InterruptedException {
    long seen = from;
    do {
      try (var use = clients.of(caller).useOf(List.of(type))) {
        History<?> history = history(use, type, key);
        long now = history.version();
        while (seen < now) {
          long next = told(out, pasts.apply(caller), type, key, seen, Math.min(now, seen + PAGE));
          if (next == seen) break; // the server tells it soon
          seen = next;
        }
      } catch (Unavailable | IllegalArgumentException silent) {
        // Its servers are changing; what happens meanwhile comes later.
      } catch (StoaException ended) {
        out.event("problem", "", Problem.of(ended).json());
        return;
      }
    } while (out.rest() && caller.isKnown());
  }

  private static long told(
      EventStreams.Sending out, Pasts pasts, String type, String key, long seen, long to)
      throws IOException {
    List<JsonObject> entries = pasts.entries(type, key, seen + 1, to);
    long last = seen;
    for (JsonObject entry : entries) {
      long version = entry.get("version").getAsLong();
      if (version > last + 1) {
        var gap = new JsonObject();
        gap.addProperty("from", last + 1);
        gap.addProperty("to", version - 1);
        out.event("released", "", gap);
      }
      out.event("change", Long.toString(version), entry);
      last = version;
    }
    return last;
  }
}
