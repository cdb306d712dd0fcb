package stoa.sinks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.LogAddress;
import stoa.Ref;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.types.Keys;

/// The form in which changes leave: the envelope of Debezium, with the call beside the states.
///
/// ```
/// {"before": {...}, "after": {...},
///  "source": {"version": 7, "connector": "stoa", "name": "audit", "ts_ms": 1700000000000,
///             "ts_us": 1700000000000123, "ts_ns": 1700000000000123000, "snapshot": "false",
///             "type": "bank.Account", "key": "alice",
///             "id": "6a2f3ed6c9b04d1f8e7a5b9c0d1e2f30", "log": "1:42"},
///  "op": "c" | "u" | "d" | "r",
///  "call": {"method": "deposit(long)", "arguments": [5], "returned": 12},
///  "ts_ms": 1700000000000,
///  "transaction": {"id": "1:42", "total_order": 1, "data_collection_order": 1, "size": 2}}
/// ```
///
/// All times are the moment at which the store logged the change. A sink adds no time of its own,
/// so that it writes the same text when it writes a change again. `version` is that of the object,
/// and `name` that of the sink. The type of an object stands for the table. `id` tells objects
/// apart whose keys have the same JSON, such as the number 1 as a `Long` and as an `Integer`.
///
/// The present objects with which a stream begins count as one transaction: `total_order` counts
/// them, and `size` is 0 until the last one. So a line whose `total_order` is its `size` ends
/// something whole, whose `id` is a token. When a sink begins anew with the present objects, a
/// deletion for each object that is gone belongs to the same transaction: it has no `version`, and
/// its times are the moment at which the sink noticed.
///
/// @param sink the name of the sink
public record Envelope(String sink) {
  /// Returns the identity by which the store tells objects apart: a hash of the type and the key.
  static StreamId id(Ref<?> object) {
    return new Key(object.type(), Keys.encode(object.key()), object).stream();
  }

  /// Returns the envelope of a change.
  Map<String, @Nullable Object> of(Change<?> change, Order.Place place) {
    Change.At at = change.at();
    var all = new LinkedHashMap<String, @Nullable Object>();
    all.put("before", Json.state(change.before()));
    all.put("after", Json.state(change.after()));
    boolean present = change instanceof Change.Present;
    String snapshot = !present ? "false" : snapshot(place);
    Ref<?> object = at.object();
    var source =
        source(
            at.version(),
            at.time(),
            snapshot,
            object.type(),
            object.key(),
            id(object).toString(),
            at.address());
    all.put("source", source);
    all.put("op", op(change));
    if (change instanceof Change.Called<?> called) all.put("call", call(called));
    end(all, at.time(), at.address(), place);
    return all;
  }

  /// Returns the envelope of a deletion that no change showed: the object is not among the present
  /// ones.
  ///
  /// @param type in JSON
  /// @param key in JSON
  /// @param id in JSON; null when an earlier version has shown the object, without an id
  /// @param at the moment of the present objects
  /// @param time when the sink noticed
  /// @param place among the present objects and these deletions
  Map<String, @Nullable Object> gone(
      Json.Raw type,
      Json.Raw key,
      Json.@Nullable Raw id,
      LogAddress at,
      Instant time,
      Order.Place place) {
    var all = new LinkedHashMap<String, @Nullable Object>();
    all.put("before", null);
    all.put("after", null);
    all.put("source", source(null, time, snapshot(place), type, key, id, at));
    all.put("op", "d");
    end(all, time, at, place);
    return all;
  }

  private static String snapshot(Order.Place place) {
    return place.all() == place.size() ? "last" : "true";
  }

  private Map<String, @Nullable Object> source(
      @Nullable Long version,
      Instant time,
      String snapshot,
      Object type,
      @Nullable Object key,
      @Nullable Object id,
      LogAddress log) {
    long micros = ChronoUnit.MICROS.between(Instant.EPOCH, time);
    var source = new LinkedHashMap<String, @Nullable Object>();
    source.put("version", version);
    source.put("connector", "stoa");
    source.put("name", sink);
    source.put("ts_ms", time.toEpochMilli());
    source.put("ts_us", micros);
    source.put("ts_ns", micros * 1_000);
    source.put("snapshot", snapshot);
    source.put("type", type);
    source.put("key", key);
    if (id != null) source.put("id", id);
    source.put("log", log.toString());
    return source;
  }

  /// Adds the last members, which tell where a transaction ends.
  private static void end(
      Map<String, @Nullable Object> all, Instant time, LogAddress at, Order.Place place) {
    all.put("ts_ms", time.toEpochMilli());
    var transaction = new LinkedHashMap<String, @Nullable Object>();
    transaction.put("id", at.toString());
    transaction.put("total_order", place.all());
    transaction.put("data_collection_order", place.ofType());
    transaction.put("size", place.size());
    all.put("transaction", transaction);
  }

  private static String op(Change<?> change) {
    return switch (change) {
      case Change.Called<?> called -> called.creates() ? "c" : "u";
      case Change.Created<?> _ -> "c";
      case Change.Changed<?> changed -> changed.before() == null ? "c" : "u";
      case Change.Deleted<?> _ -> "d";
      case Change.Present<?> _ -> "r";
    };
  }

  private static Map<String, @Nullable Object> call(Change.Called<?> called) {
    var call = new LinkedHashMap<String, @Nullable Object>();
    call.put("method", called.method());
    call.put("arguments", called.arguments());
    switch (called.outcome()) {
      case Change.Outcome.Returned(Object value) -> call.put("returned", value);
      case Change.Outcome.Threw(Throwable error) -> call.put("threw", error.toString());
      case Change.Outcome.NotAsked() -> {
        // The stream does not tell it.
      }
    }
    return call;
  }

  /// Returns a log address from its text in an envelope.
  static LogAddress address(String text) {
    int colon = text.indexOf(':');
    return new LogAddress(
        Long.parseLong(text.substring(0, colon)), Long.parseLong(text.substring(colon + 1)));
  }
}
