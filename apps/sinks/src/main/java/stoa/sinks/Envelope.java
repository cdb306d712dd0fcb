package stoa.sinks;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.LogAddress;

/// The form in which changes leave: the envelope of Debezium, with the call beside the states.
///
/// ```
/// {"before": {...}, "after": {...},
///  "source": {"connector": "stoa", "type": "bank.Account", "key": "alice", "version": 7,
///             "log": "1:42", "snapshot": "false"},
///  "op": "c" | "u" | "d" | "r",
///  "call": {"method": "deposit(long)", "arguments": [5], "returned": 12},
///  "ts_ms": 1700000000000,
///  "transaction": {"id": "1:42", "total_order": 1, "size": 2}}
/// ```
///
/// The present objects with which a stream begins count as one transaction: `total_order` counts
/// them, and `size` is 0 until the last one. So a line whose `total_order` is its `size` ends
/// something whole, whose `id` is a token. When a sink begins anew with the present objects, a
/// deletion for each object that is gone belongs to the same transaction: it has no `version`, and
/// its `ts_ms` is the time at which the sink noticed.
public final class Envelope {
  private Envelope() {}

  /// Returns the envelope of a change.
  ///
  /// @param order of a present object, which one it is, from 1
  /// @param size of a present object, how many there are when it is the last one; else 0
  public static Map<String, @Nullable Object> of(Change<?> change, long order, long size) {
    Change.At at = change.at();
    var all = new LinkedHashMap<String, @Nullable Object>();
    all.put("before", Json.state(change.before()));
    all.put("after", Json.state(change.after()));
    var source = new LinkedHashMap<String, @Nullable Object>();
    source.put("connector", "stoa");
    source.put("type", at.object().type());
    source.put("key", at.object().key());
    source.put("version", at.version());
    source.put("log", at.address().toString());
    boolean present = change instanceof Change.Present;
    source.put("snapshot", !present ? "false" : order == size ? "last" : "true");
    all.put("source", source);
    all.put("op", op(change));
    if (change instanceof Change.Called<?> called) all.put("call", call(called));
    all.put("ts_ms", at.time().toEpochMilli());
    var transaction = new LinkedHashMap<String, @Nullable Object>();
    transaction.put("id", at.address().toString());
    transaction.put("total_order", present ? order : at.index() + 1);
    transaction.put("size", present ? size : at.size());
    all.put("transaction", transaction);
    return all;
  }

  /// Returns the envelope of a deletion that no change showed: the object is not among the present
  /// ones.
  ///
  /// @param type in JSON
  /// @param key in JSON
  /// @param at the moment of the present objects
  /// @param time when the sink noticed, in milliseconds since 1970
  /// @param order which one of the present objects and these deletions it is, from 1
  /// @param isLast whether it is the last one
  static Map<String, @Nullable Object> gone(
      Json.Raw type, Json.Raw key, LogAddress at, long time, long order, boolean isLast) {
    var all = new LinkedHashMap<String, @Nullable Object>();
    all.put("before", null);
    all.put("after", null);
    var source = new LinkedHashMap<String, @Nullable Object>();
    source.put("connector", "stoa");
    source.put("type", type);
    source.put("key", key);
    source.put("version", null);
    source.put("log", at.toString());
    source.put("snapshot", isLast ? "last" : "true");
    all.put("source", source);
    all.put("op", "d");
    all.put("ts_ms", time);
    var transaction = new LinkedHashMap<String, @Nullable Object>();
    transaction.put("id", at.toString());
    transaction.put("total_order", order);
    transaction.put("size", isLast ? order : 0);
    all.put("transaction", transaction);
    return all;
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
  public static LogAddress address(String text) {
    int colon = text.indexOf(':');
    return new LogAddress(
        Long.parseLong(text.substring(0, colon)), Long.parseLong(text.substring(colon + 1)));
  }
}
