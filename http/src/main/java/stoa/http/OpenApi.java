package stoa.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import stoa.front.types.SharedType;
import stoa.node.HttpDoor.Reply;

/// Describes the interface in OpenAPI 3.1: the paths of every store, and one path for each method
/// of each shared type. Thread-safe.
final class OpenApi {
  private static final String VERSION = "3.1.0";
  private static final String JSON = "application/json";

  private final StoreClient client;
  private final List<HttpApi.Described> described;

  /// @param described the paths that are the same in every store
  OpenApi(StoreClient client, List<HttpApi.Described> described) {
    this.client = client;
    this.described = described;
  }

  /// Answers `GET /v1/openapi.json`.
  Reply reply(Asking asking) {
    asking.allow();
    try (var use = client.useFresh()) {
      return JsonText.reply(document(use));
    }
  }

  private JsonObject document(StoreClient.Use use) {
    var schemas = new Schemas();
    var paths = new JsonObject();
    var refused = new JsonObject();
    for (SharedType type : use.types().values()) {
      Operations operations = use.operations(type);
      operations
          .all()
          .values()
          .forEach(one -> paths.add(path(type, one), item(type, one, schemas)));
      operations
          .refused()
          .forEach((method, reason) -> refused.addProperty(type.name() + "." + method, reason));
    }
    common(paths, schemas);
    for (HttpApi.Described one : described) describe(paths, one);
    var info = new JsonObject();
    info.addProperty("title", "Stoa");
    info.addProperty("version", "1");
    info.addProperty("description", "The shared objects of a store.");
    var document = new JsonObject();
    document.addProperty("openapi", VERSION);
    document.add("info", info);
    document.add("paths", paths);
    document.add("components", components(schemas));
    document.add("security", security());
    document.add("x-stoa-refused", refused);
    return document;
  }

  private static String encoded(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String path(SharedType type, Operation operation) {
    return HttpApi.ROOT
        + "objects/"
        + encoded(type.name())
        + "/{key}/call/"
        + encoded(operation.name());
  }

  private static JsonObject item(SharedType type, Operation operation, Schemas schemas) {
    var item = new JsonObject();
    item.add("parameters", array(key()));
    if (operation.isAccessor()) {
      JsonObject get = described(type, operation, "get", schemas);
      var content = new JsonObject();
      var media = new JsonObject();
      media.add("schema", operation.argumentsSchema(schemas));
      content.add(JSON, media);
      JsonObject arguments = parameter("query", "arguments", false, null);
      arguments.add("content", content);
      JsonObject at = parameter("query", "at", false, Schemas.of("string", ""));
      at.addProperty("description", "a version, or a time");
      get.add("parameters", array(arguments, at, timeout()));
      item.add("get", get);
    }
    JsonObject post = described(type, operation, "call", schemas);
    post.add("requestBody", body(operation.argumentsSchema(schemas)));
    post.add("parameters", array(timeout(), idempotency()));
    item.add("post", post);
    return item;
  }

  private static JsonObject described(
      SharedType type, Operation operation, String verb, Schemas schemas) {
    var described = new JsonObject();
    String suffix = verb.equals("get") ? ".get" : "";
    described.addProperty("operationId", type.name() + "." + operation.name() + suffix);
    described.add("tags", array(new JsonPrimitive(type.name())));
    described.addProperty("x-stoa-type", type.name());
    described.addProperty("x-stoa-method", operation.name());
    JsonObject result = operation.resultSchema(schemas);
    described.add("responses", responses(result == null ? "204" : "200", result));
    return described;
  }

  private static JsonObject responses(String status, @Nullable JsonObject schema) {
    var answer = new JsonObject();
    answer.addProperty("description", schema == null ? "done" : "the answer");
    if (schema != null) answer.add("content", content(JSON, schema));
    var problem = new JsonObject();
    problem.addProperty("$ref", "#/components/responses/Problem");
    var responses = new JsonObject();
    responses.add(status, answer);
    responses.add("default", problem);
    return responses;
  }

  private static JsonObject content(String type, JsonObject schema) {
    var media = new JsonObject();
    media.add("schema", schema);
    var content = new JsonObject();
    content.add(type, media);
    return content;
  }

  private static JsonObject body(JsonObject schema) {
    var body = new JsonObject();
    body.add("content", content(JSON, schema));
    return body;
  }

  private static JsonObject parameter(
      String in, String name, boolean required, @Nullable JsonObject schema) {
    var parameter = new JsonObject();
    parameter.addProperty("name", name);
    parameter.addProperty("in", in);
    if (required) parameter.addProperty("required", true);
    if (schema != null) parameter.add("schema", schema);
    return parameter;
  }

  private static JsonObject key() {
    JsonObject key = parameter("path", "key", true, Schemas.of("string", ""));
    key.addProperty(
        "description",
        "alice, long:42, int:42, uuid:ID, enum:CLASS#CONSTANT or record:CLASS(COMPONENT, ...)");
    return key;
  }

  private static JsonObject timeout() {
    JsonObject timeout = parameter("header", "Stoa-Timeout", false, Schemas.of("string", ""));
    timeout.addProperty("description", "how long it may take, such as 500ms or 5s");
    return timeout;
  }

  private static JsonObject idempotency() {
    JsonObject key = parameter("header", "Idempotency-Key", false, Schemas.of("string", ""));
    key.addProperty("description", "a repeated request with the same key gets the first answer");
    return key;
  }

  private static JsonArray array(JsonElement... all) {
    var array = new JsonArray();
    for (JsonElement one : all) array.add(one);
    return array;
  }

  // ---- what every store has

  private static void common(JsonObject paths, Schemas schemas) {
    JsonObject type = parameter("path", "type", true, Schemas.of("string", ""));
    var object = new JsonObject();
    object.add("parameters", array(type, key()));
    JsonObject create = operation("create", "Creates an object.", "201", Shares.schema(""));
    create.add("requestBody", body(Schemas.of("array", "")));
    object.add("post", create);
    object.add("delete", operation("delete", "Deletes an object.", "204", null));
    paths.add(HttpApi.ROOT + "objects/{type}/{key}", object);
    JsonObject transact = operation("transact", "Makes calls together, or none.", "200", results());
    transact.add("requestBody", body(calls(schemas)));
    transact.add("parameters", array(timeout(), idempotency()));
    var transactions = new JsonObject();
    transactions.add("post", transact);
    paths.add(HttpApi.ROOT + "transactions", transactions);
  }

  private static void describe(JsonObject paths, HttpApi.Described one) {
    String path = HttpApi.ROOT + one.path();
    JsonObject item = paths.has(path) ? paths.getAsJsonObject(path) : new JsonObject();
    JsonObject operation = operation(one.id(), one.summary(), "200", new JsonObject());
    var parameters = new JsonArray();
    if (!item.has("parameters")) {
      for (String part : one.path().split("/", -1)) {
        if (part.equals("{key}")) parameters.add(key());
        else if (part.startsWith("{")) {
          String name = part.substring(1, part.length() - 1);
          parameters.add(parameter("path", name, true, Schemas.of("string", "")));
        }
      }
    }
    for (String name : one.query()) {
      parameters.add(parameter("query", name, false, Schemas.of("string", "")));
    }
    operation.add("parameters", parameters);
    item.add(one.method().toLowerCase(Locale.ROOT), operation);
    paths.add(path, item);
  }

  private static JsonObject operation(
      String id, String summary, String status, @Nullable JsonObject schema) {
    var operation = new JsonObject();
    operation.addProperty("operationId", id);
    operation.addProperty("summary", summary);
    operation.add("responses", responses(status, schema));
    return operation;
  }

  private static JsonObject results() {
    JsonObject list = Schemas.of("array", "");
    list.add("items", new JsonObject());
    return object(new JsonObject(), "results", list);
  }

  private static JsonObject calls(Schemas schemas) {
    JsonObject call =
        schemas.named(
            "Call",
            () -> {
              var properties = new JsonObject();
              for (String name : new String[] {"type", "key", "method"}) {
                properties.add(name, Schemas.of("string", ""));
              }
              return object(properties, "arguments", Schemas.of("array", ""));
            });
    JsonObject list = Schemas.of("array", "");
    list.add("items", call);
    var properties = new JsonObject();
    properties.add("readOnly", Schemas.of("boolean", ""));
    return object(properties, "calls", list);
  }

  private static JsonObject object(JsonObject properties, String name, JsonObject schema) {
    properties.add(name, schema);
    JsonObject object = Schemas.of("object", "");
    object.add("properties", properties);
    return object;
  }

  private static JsonObject components(Schemas schemas) {
    JsonObject problem =
        schemas.named(
            "Problem",
            () -> {
              var properties = new JsonObject();
              for (String name : new String[] {"type", "title", "detail", "exception"}) {
                properties.add(name, Schemas.of("string", ""));
              }
              properties.add("call", Schemas.of("integer", "int32"));
              return object(properties, "status", Schemas.of("integer", "int32"));
            });
    var answer = new JsonObject();
    answer.addProperty("description", "a refusal or failure (RFC 9457)");
    answer.add("content", content("application/problem+json", problem));
    var responses = new JsonObject();
    responses.add("Problem", answer);
    var token = new JsonObject();
    token.addProperty("type", "http");
    token.addProperty("scheme", "bearer");
    var schemes = new JsonObject();
    schemes.add("token", token);
    var components = new JsonObject();
    components.add("schemas", schemas.all());
    components.add("responses", responses);
    components.add("securitySchemes", schemes);
    return components;
  }

  /// A token, or none.
  private static JsonArray security() {
    var token = new JsonObject();
    token.add("token", new JsonArray());
    return array(new JsonObject(), token);
  }
}
