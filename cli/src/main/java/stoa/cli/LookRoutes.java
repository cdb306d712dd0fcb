package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import stoa.Forbidden;
import stoa.front.types.KeyText;
import stoa.http.Asking;
import stoa.http.HttpApi;
import stoa.http.JsonText;
import stoa.http.Problem;
import stoa.node.access.Caller;
import stoa.node.access.Need;
import stoa.node.access.Role;
import stoa.objects.LookService;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.Shown;
import stoa.wire.proto.ShownBounds;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.VersionStatus;

/// The operators' questions over HTTP: each answers as its command does with `--json`. Thread-safe.
final class LookRoutes {
  private static final int OBJECTS_MAX = 1_000;
  private static final int MILLIS = 1_000;
  private static final int ROWS = 15;
  private static final int AUDITS = 100;

  private final Function<Caller, Operator> operators;
  private final Overview overview;

  private LookRoutes(Function<Caller, Operator> operators, Overview overview) {
    this.operators = operators;
    this.overview = overview;
  }

  private Operator operator(Asking asking) {
    return operators.apply(asking.caller());
  }

  /// Adds the paths.
  ///
  /// @param operators asks the servers for a client
  /// @param overview asks the servers for all clients that may read
  static void add(
      HttpApi api, Function<Caller, Operator> operators, Overview overview, Trends trends) {
    var routes = new LookRoutes(operators, overview);
    api.add("GET", "objects", asked(routes::types));
    api.add("GET", "objects/{type}", asked(routes::objects));
    api.add("GET", "objects/{type}/{key}", asked(routes::state));
    api.add("GET", "objects/{type}/{key}/history", asked(routes::history));
    api.add("GET", "objects/{type}/{key}/diff", asked(routes::difference));
    api.add("GET", "identity", asked(LookRoutes::identity));
    api.add("GET", "status", asked(routes::status));
    api.add("GET", "top", asked(routes::top));
    api.add("POST", "cancel", asked(routes::cancel));
    api.add("POST", "end-session", asked(routes::endSession));
    api.add("GET", "keep", asked(routes::keep));
    api.add("PUT", "keep", asked(routes::keepOthers));
    api.add("GET", "code", asked(routes::code));
    api.add("GET", "audit", asked(routes::audit));
    api.add("GET", "overview", asked(routes::overview));
    api.add(
        "GET",
        "trends",
        asked(asking -> {
          asking.allow("since");
          return trends.json(asking.number("since", 0));
        }));
    describe(api);
  }

  private static void describe(HttpApi api) {
    String object = "objects/{type}/{key}";
    api.describe("GET", "objects", "types", "Lists the types.");
    api.describe(
        "GET", "objects/{type}", "objects", "Lists objects of a type.", "skip", "max", "sizes");
    api.describe(
        "GET", object, "state", "Shows the state of an object.", "at", "elements", "text", "as");
    api.describe(
        "GET",
        object + "/history",
        "history",
        "Lists the calls of an object.",
        "from",
        "to",
        "max",
        "results",
        "elements",
        "text",
        "as");
    api.describe(
        "GET",
        object + "/diff",
        "diff",
        "Compares two versions of an object.",
        "from",
        "to",
        "elements",
        "text",
        "as");
    api.describe("GET", "identity", "identity", "Names the client's identity and its roles.");
    api.describe("GET", "status", "status", "Tells the state of a group.", "group");
    api.describe("GET", "top", "top", "Watches the objects and calls.", "millis", "rows");
    api.describe("POST", "cancel", "cancel", "Cancels a call.", "call", "group");
    api.describe(
        "POST", "end-session", "endSession", "Ends a client's session.", "session", "group");
    api.describe("GET", "keep", "keep", "Tells how much of the past the store keeps.");
    api.describe("GET", "code", "code", "Lists the versions of the code.");
    api.describe("GET", "audit", "audit", "Lists the commands of operators.", "max");
    api.describe("GET", "overview", "overview", "Tells the servers, groups and clients.");
    api.describe(
        "GET", "trends", "trends", "Tells the measures of this server over time.", "since");
  }

  private interface Answer {
    JsonElement to(Asking asking) throws Exception;
  }

  private static HttpApi.Handler asked(Answer answer) {
    return asking -> {
      try {
        return JsonText.reply(answer.to(asking));
      } catch (IllegalArgumentException refused) {
        // With a cause, a server did not answer; otherwise it has answered that there is none.
        boolean isSilent = refused.getCause() != null;
        throw new Problem(
            isSilent ? Problem.UNAVAILABLE : Problem.NOT_FOUND,
            isSilent ? "Unavailable" : "NotFound",
            String.valueOf(refused.getMessage()));
      }
    };
  }

  private LookSource source(Asking asking) {
    return LookSource.Served.of(operator(asking));
  }

  private static byte[] key(Asking asking) {
    try {
      return KeyText.encoded(asking.variable(1));
    } catch (IllegalArgumentException wrong) {
      throw new Problem(Problem.BAD_REQUEST, "BadRequest", String.valueOf(wrong.getMessage()));
    }
  }

  private static ShownBounds bounds(Asking asking) {
    return ShownBounds.newBuilder()
        .setElementsMax((int) Math.min(Integer.MAX_VALUE, asking.number("elements", 0)))
        .setTextMax((int) Math.min(Integer.MAX_VALUE, asking.number("text", 0)))
        .build();
  }

  /// Returns how values are written: as a tree of their kinds, with numbers as text, or as JSON.
  private static Function<Shown, JsonElement> form(Asking asking) {
    String told = asking.query("as");
    if (told == null || told.equals("json")) return ShownText::json;
    if (told.equals("tree")) return ShownText::tree;
    throw new Problem(
        Problem.BAD_REQUEST, "BadRequest", "as is \"" + told + "\"; it must be json or tree");
  }

  private JsonElement overview(Asking asking) throws InterruptedException {
    asking.allow();
    Need need = Need.of(Role.READ);
    if (asking.caller().permit(need).refusal() != null) {
      throw new Forbidden(asking.caller().refusal(need));
    }
    return overview.json();
  }

  /// Tells the client who it is, and which roles it has for some types at least.
  private static JsonElement identity(Asking asking) {
    asking.allow();
    var roles = new JsonArray();
    for (Role role : Role.values()) {
      if (asking.caller().hasSome(role)) roles.add(role.word());
    }
    var told = new JsonObject();
    told.addProperty("identity", asking.caller().name());
    told.add("may", roles);
    return told;
  }

  private JsonElement types(Asking asking) {
    asking.allow();
    try (LookSource source = source(asking)) {
      return ObjectsCommand.json(source);
    }
  }

  private JsonElement objects(Asking asking) {
    asking.allow("skip", "max", "sizes");
    int max = (int) Math.clamp(asking.number("max", 50), 1L, OBJECTS_MAX);
    var some = new ObjectsCommand.Some(asking.number("skip", 0), max, asking.flag("sizes"));
    try (LookSource source = source(asking)) {
      return ObjectsCommand.json(source, asking.variable(0), some);
    }
  }

  private JsonElement state(Asking asking) {
    asking.allow("at", "elements", "text", "as");
    String type = asking.variable(0);
    byte[] key = key(asking);
    try (LookSource source = source(asking)) {
      var state = ShowCommand.state(source, type, key, asking.query("at"), bounds(asking));
      return ShowCommand.json(type, key, state, form(asking));
    }
  }

  private JsonElement history(Asking asking) {
    asking.allow("from", "to", "max", "results", "elements", "text", "as");
    int max = (int) Math.clamp(asking.number("max", 50), 1L, LookService.ENTRIES_MAX);
    var some =
        new HistoryCommand.Some(
            asking.number("from", 0),
            asking.number("to", 0),
            max,
            asking.flag("results"),
            bounds(asking));
    try (LookSource source = source(asking)) {
      LookReply reply = HistoryCommand.entries(source, asking.variable(0), key(asking), some);
      return HistoryCommand.json(reply.getEntriesList(), reply, form(asking));
    }
  }

  private JsonElement difference(Asking asking) {
    asking.allow("from", "to", "elements", "text", "as");
    String from = asking.query("from");
    String to = asking.query("to");
    if (from == null || to == null) {
      throw new Problem(
          Problem.BAD_REQUEST, "BadRequest", "give two versions or times, as ?from=1&to=2");
    }
    try (LookSource source = source(asking)) {
      return DiffCommand.json(
          DiffCommand.compared(source, asking.variable(0), key(asking), from, to, bounds(asking)),
          form(asking));
    }
  }

  private JsonElement status(Asking asking) {
    asking.allow("group");
    int group = group(asking.number("group", 0));
    var request = StatusRequest.newBuilder().setGroup(group).build();
    return Json.of(operator(asking).ask(group, server -> server.status(request)));
  }

  private static int group(long number) {
    if (number < stoa.wire.SlotMap.GROUPS_MAX) return (int) number;
    throw new Problem(Problem.NOT_FOUND, "NotFound", "there is no group " + number);
  }

  private JsonElement top(Asking asking) throws InterruptedException {
    asking.allow("millis", "rows");
    int millis =
        (int) Math.clamp(asking.number("millis", MILLIS), 1L, LookService.TIME_MAX.toMillis());
    int rows = (int) Math.clamp(asking.number("rows", ROWS), 1L, OBJECTS_MAX);
    int groups = LookSource.Served.of(operator(asking)).groups();
    return TopCommand.json(TopCommand.seen(operator(asking), groups, millis, rows), rows);
  }

  private JsonElement cancel(Asking asking) {
    asking.allow("call", "group");
    String call = asking.query("call");
    if (call == null) {
      throw new Problem(
          Problem.BAD_REQUEST, "BadRequest", "name the call, as ?call=7; /v1/top lists them");
    }
    var told = cancel(asking, CancelRequest.newBuilder().setId(call));
    told.addProperty("call", call);
    told.addProperty("canceled", true);
    return told;
  }

  private JsonObject cancel(Asking asking, CancelRequest.Builder what) {
    int group = group(asking.number("group", 0));
    var request = what.setGroup(group).build();
    CancelReply reply = operator(asking).ask(group, server -> server.cancel(request));
    if (!reply.getCancelled()) throw new IllegalArgumentException(reply.getWhy());
    return new JsonObject();
  }

  private JsonElement endSession(Asking asking) {
    asking.allow("session", "group");
    long session = asking.number("session", 0);
    if (session == 0) {
      throw new Problem(
          Problem.BAD_REQUEST,
          "BadRequest",
          "name the session, as ?session=7; /v1/status lists them");
    }
    var told = cancel(asking, CancelRequest.newBuilder().setSession(session));
    told.addProperty("session", session);
    told.addProperty("ended", true);
    return told;
  }

  private JsonElement keep(Asking asking) {
    asking.allow();
    return rules(asking, List.of());
  }

  private JsonElement keepOthers(Asking asking) {
    asking.allow();
    var rules = new ArrayList<String>();
    boolean isList = asking.body(JsonNull.INSTANCE) instanceof JsonArray;
    if (isList) {
      for (JsonElement one : (JsonArray) asking.body(JsonNull.INSTANCE)) {
        isList &= one.isJsonPrimitive();
        if (isList) rules.add(one.getAsString());
      }
    }
    if (!isList || rules.isEmpty()) {
      throw new Problem(
          Problem.BAD_REQUEST, "BadRequest", "the body must be rules, as [\"age=30d\"]");
    }
    return rules(asking, rules);
  }

  private JsonElement rules(Asking asking, List<String> rules) {
    var found = new JsonArray();
    KeepCommand.rules(operator(asking), rules)
        .forEach((text, groups) -> {
          var told = new JsonObject();
          var lines = new JsonArray();
          text.lines().forEach(lines::add);
          var of = new JsonArray();
          groups.forEach(of::add);
          told.add("groups", of);
          told.add("rules", lines);
          found.add(told);
        });
    return found;
  }

  private JsonElement audit(Asking asking) {
    asking.allow("max");
    int max = (int) Math.clamp(asking.number("max", AUDITS), 1L, OBJECTS_MAX);
    return AuditCommand.json(AuditCommand.lines(operator(asking), max));
  }

  private JsonElement code(Asking asking) {
    asking.allow();
    var all = new JsonArray();
    int group = 0;
    for (List<VersionStatus> versions : new ServedCode(operator(asking)).versions()) {
      for (VersionStatus one : versions) {
        JsonObject told = (JsonObject) Json.of(one);
        told.addProperty("group", group);
        all.add(told);
      }
      group++;
    }
    return all;
  }
}
