package stoa.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.StoaException;
import stoa.TxOptions;
import stoa.node.HttpDoor.Reply;
import stoa.node.access.Caller;

/// Calls, transactions, creations and deletions over HTTP. Thread-safe.
final class Calls {
  private static final int NO_CONTENT = 204;
  private static final int CREATED = 201;
  private static final int CALLS_MAX = 1_000;
  private static final JsonArray NONE = new JsonArray();

  private final StoreClients clients;
  private final Function<Caller, Pasts> pasts;
  private final Answers answers = new Answers();

  Calls(StoreClients clients, Function<Caller, Pasts> pasts) {
    this.clients = clients;
    this.pasts = pasts;
  }

  /// Does work on a type.
  private Reply with(Asking asking, String type, Work work) throws Exception {
    try (var use = clients.of(asking).useOf(List.of(type))) {
      return work.reply(use, use.operations(type));
    }
  }

  /// Does work on a type that has a method, with a look for new code when it has none.
  private Reply with(Asking asking, String type, String method, Work work) throws Exception {
    StoreClient client = clients.of(asking);
    try (var use = client.useOf(List.of(type))) {
      if (use.operations(type).has(method)) return work.reply(use, use.operations(type));
    }
    try (var fresh = client.useFresh()) {
      return work.reply(fresh, fresh.operations(type));
    }
  }

  /// Work on the methods of a type.
  private interface Work {
    Reply reply(StoreClient.Use use, Operations type) throws Exception;
  }

  // ---- one call

  /// Answers `POST …/call/METHOD`.
  Reply call(Asking asking) throws Exception {
    asking.allow();
    return with(
        asking,
        asking.variable(0),
        asking.variable(2),
        (use, type) -> {
          Operation operation = type.named(asking.variable(2));
          @Nullable Object[] arguments = operation.arguments(use.forms(), asking.body(NONE));
          Object object = use.stoa().get(type.type().face(), use.shares().key(asking.variable(1)));
          String key = asking.idempotencyKey();
          if (key != null) {
            return kept(
                answers.once(
                    use.stoa(),
                    key,
                    asking,
                    options(asking, TxOptions.STANDARD),
                    () -> attempt(use, operation, object, arguments)),
                operation.isVoid());
          }
          Duration timeout = asking.timeout();
          Object timed = timeout == null ? object : use.stoa().within(timeout, object);
          return answer(operation, answered(use, operation, timed, arguments));
        });
  }

  private static JsonElement answered(
      StoreClient.Use use, Operation operation, Object object, @Nullable Object[] arguments) {
    return operation.answer(use.forms(), operation.call(object, arguments));
  }

  private static Reply answer(Operation operation, JsonElement answer) {
    return operation.isVoid() ? done() : JsonText.reply(answer);
  }

  private static Reply done() {
    return Reply.of(NO_CONTENT, "application/json", new byte[0]);
  }

  /// Makes a call whose answer is kept, also what its method throws: that is its answer.
  private static Answers.Answer attempt(
      StoreClient.Use use, Operation operation, Object object, @Nullable Object[] arguments) {
    try {
      return new Answers.Answer(answered(use, operation, object, arguments), false);
    } catch (Problem thrown) {
      return new Answers.Answer(thrown.json(), true);
    }
  }

  private static Reply kept(Answers.Answer answer, boolean isVoid) {
    JsonObject problem = Answers.problem(answer);
    if (problem != null) return Problem.reply(problem);
    return isVoid ? done() : JsonText.reply(answer.json());
  }

  /// Answers `GET …/call/METHOD`: an accessor, now or at an earlier version.
  Reply get(Asking asking) throws Exception {
    asking.allow("arguments", "at");
    return with(
        asking,
        asking.variable(0),
        asking.variable(2),
        (use, type) -> {
          Operation operation = type.named(asking.variable(2));
          if (!operation.isAccessor()) {
            throw new Problem(
                Problem.NO_SUCH_METHOD,
                "NoAccessor",
                operation.name() + " is no accessor, so that it may change the object; use POST");
          }
          String told = asking.query("arguments");
          JsonElement given = told == null ? NONE : JsonText.read(told, "the parameter arguments");
          @Nullable Object[] arguments = operation.arguments(use.forms(), given);
          Object object = use.stoa().get(type.type().face(), use.shares().key(asking.variable(1)));
          String at = asking.query("at");
          Duration timeout = asking.timeout();
          Object seen = object;
          if (at != null) seen = past(use.stoa(), object, asking, at);
          else if (timeout != null) seen = use.stoa().within(timeout, object);
          return answer(operation, answered(use, operation, seen, arguments));
        });
  }

  private Object past(Stoa stoa, Object object, Asking asking, String at) {
    try {
      long version =
          at.matches("\\d{1,18}")
              ? Long.parseLong(at)
              : pasts.apply(asking.caller()).version(asking.variable(0), asking.variable(1), at);
      return stoa.history(object).at(version);
    } catch (IllegalArgumentException none) {
      throw Problem.absent(String.valueOf(none.getMessage()));
    }
  }

  // ---- creation and deletion

  /// Answers `POST …/KEY`: creates an object.
  Reply create(Asking asking) throws Exception {
    asking.allow();
    return with(
        asking,
        asking.variable(0),
        (use, type) -> {
          @Nullable Object[] arguments = type.opening(asking.body(NONE));
          Object key = use.shares().key(asking.variable(1));
          Object made = made(use.stoa(), type, key, arguments);
          JsonObject reference = Shares.write(use.stoa().ref(made));
          return Reply.of(CREATED, "application/json", JsonText.bytes(reference));
        });
  }

  private static Object made(Stoa stoa, Operations type, Object key, @Nullable Object[] arguments) {
    try {
      return stoa.create(type.type().face(), key, arguments);
    } catch (StoaException failed) {
      throw failed;
    } catch (RuntimeException thrown) {
      throw Problem.thrown(thrown);
    }
  }

  /// Answers `DELETE …/KEY`.
  Reply delete(Asking asking) throws Exception {
    asking.allow();
    return with(
        asking,
        asking.variable(0),
        (use, type) -> {
          Object key = use.shares().key(asking.variable(1));
          Object object = use.stoa().get(type.type().face(), key);
          Duration timeout = asking.timeout();
          Object timed = timeout == null ? object : use.stoa().within(timeout, object);
          if (use.stoa().delete(timed)) return done();
          throw Problem.absent(type.type().name() + "[" + asking.variable(1) + "] does not exist");
        });
  }

  // ---- transactions

  private record Prepared(Operation operation, Object object, @Nullable Object[] arguments) {}

  /// Answers `POST /v1/transactions`: several calls as one.
  Reply transact(Asking asking) {
    asking.allow();
    JsonElement body = asking.body(NONE);
    String what = "an object with \"calls\", and perhaps \"readOnly\"";
    if (!(body instanceof JsonObject read)
        || !(read.get("calls") instanceof JsonArray listed)
        || !List.of("calls", "readOnly").containsAll(read.keySet())) {
      throw Leaves.wrong(body, "the body", what);
    }
    if (listed.size() > CALLS_MAX) {
      throw Problem.wrong("there are " + listed.size() + " calls; the most are " + CALLS_MAX);
    }
    TxOptions options = isReadOnly(read.get("readOnly")) ? TxOptions.reading() : TxOptions.STANDARD;
    try (var use = clients.of(asking).useOf(types(listed))) {
      var calls = new ArrayList<Prepared>();
      for (int i = 0; i < listed.size(); i++) calls.add(prepared(use, listed.get(i), i));
      Supplier<Answers.Answer> all = () -> new Answers.Answer(results(use, calls), false);
      String key = asking.idempotencyKey();
      Stoa stoa = use.stoa();
      TxOptions timed = options(asking, options);
      if (key == null || timed.readOnly())
        return JsonText.reply(stoa.transact(timed, all::get).json());
      return kept(answers.once(stoa, key, asking, timed, all), false);
    }
  }

  private static boolean isReadOnly(@Nullable JsonElement told) {
    if (told == null) return false;
    if (told instanceof JsonPrimitive flag && flag.isBoolean()) return flag.getAsBoolean();
    throw Leaves.wrong(told, "readOnly", "true or false");
  }

  /// Returns the types of calls, as far as they name one.
  private static Set<String> types(JsonArray calls) {
    var types = new TreeSet<String>();
    for (JsonElement one : calls) {
      JsonElement type = one instanceof JsonObject call ? call.get("type") : null;
      if (type instanceof JsonPrimitive word && word.isString()) types.add(word.getAsString());
    }
    return types;
  }

  private static Prepared prepared(StoreClient.Use use, JsonElement json, int number) {
    try {
      if (!(json instanceof JsonObject call)
          || !List.of("type", "key", "method", "arguments").containsAll(call.keySet())) {
        throw Leaves.wrong(
            json, "the call", "an object with \"type\", \"key\", \"method\" and \"arguments\"");
      }
      Operations known = use.operations(word(call, "type"));
      Operation operation = known.named(word(call, "method"));
      JsonElement given = call.has("arguments") ? call.get("arguments") : NONE;
      @Nullable Object[] arguments = operation.arguments(use.forms(), given);
      Object key = use.shares().key(word(call, "key"));
      return new Prepared(operation, use.stoa().get(known.type().face(), key), arguments);
    } catch (Problem wrong) {
      throw wrong.ofCall(number);
    }
  }

  private static String word(JsonObject call, String name) {
    JsonElement word = call.get(name);
    if (word == null) throw Problem.wrong("the call has no \"" + name + "\"");
    return Leaves.word(word, name, "a text");
  }

  /// Makes the calls, in the transaction of this thread.
  private static JsonObject results(StoreClient.Use use, List<Prepared> calls) {
    var results = new JsonArray();
    for (int i = 0; i < calls.size(); i++) {
      Prepared call = calls.get(i);
      try {
        results.add(answered(use, call.operation, call.object, call.arguments));
      } catch (Problem thrown) {
        throw thrown.ofCall(i);
      } catch (Inexpressible answer) {
        throw Problem.of(answer).ofCall(i);
      }
    }
    var all = new JsonObject();
    all.add("results", results);
    return all;
  }

  private static TxOptions options(Asking asking, TxOptions options) {
    Duration timeout = asking.timeout();
    if (timeout == null) return options;
    TxOptions timed = options.withTotalTimeMax(timeout);
    return timeout.compareTo(options.timeMax()) < 0 ? timed.withTimeMax(timeout) : timed;
  }
}
