package stoa.http;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.ShardedMap;
import stoa.Stoa;
import stoa.StoaException;
import stoa.TxOptions;

/// The answers to requests that carry an `Idempotency-Key`, kept in the store itself: a transaction
/// makes the calls of the request and keeps its answer. So a request that comes again gets the
/// first answer, at any server of the store, also after a crash. Thread-safe.
///
/// Answers stay for an hour at least, in one of four maps in turn; the map of the hour before the
/// last one is emptied.
final class Answers {
  private static final String MAPS = "stoa.http.answers.";
  private static final int TURNS = 4;
  private static final int SHARDS = 64;
  private static final int ANSWER_MAX = 1 << 16;
  private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();

  // The last hour for which this server has emptied a map.
  private final AtomicLong emptied = new AtomicLong();

  /// A kept answer.
  ///
  /// @param hour when it was kept, in hours since 1970
  /// @param request a hash of the request
  /// @param answer the JSON that was answered
  /// @param problem whether that is a problem
  private record StoredAnswer(long hour, String request, JsonElement answer, boolean problem) {
    static StoredAnswer of(String text) {
      JsonObject read = JsonText.read(text, "a kept answer").getAsJsonObject();
      return new StoredAnswer(
          read.get("hour").getAsLong(),
          read.get("request").getAsString(),
          read.get("answer"),
          read.get("problem").getAsBoolean());
    }

    String text() {
      var written = new JsonObject();
      written.addProperty("hour", hour);
      written.addProperty("request", request);
      written.add("answer", answer);
      written.addProperty("problem", problem);
      return JsonText.text(written);
    }
  }

  /// An answer.
  ///
  /// @param json the result or the problem document
  /// @param problem whether it is a problem
  record Answer(JsonElement json, boolean problem) {}

  /// Answers a request once.
  ///
  /// @param key of the request
  /// @param asking the request; another one with the same key is refused
  /// @param calls makes the calls, in a transaction
  Answer once(Stoa stoa, String key, Asking asking, TxOptions options, Supplier<Answer> calls) {
    long hour = System.currentTimeMillis() / HOUR_MILLIS;
    empty(stoa, hour);
    String request = hash(asking.line().getBytes(StandardCharsets.UTF_8), asking.bytes());
    String name = hash(key.getBytes(StandardCharsets.UTF_8), new byte[0]);
    return stoa.transact(
        options,
        () -> {
          for (long turn = hour - 1; turn <= hour + 1; turn++) {
            String text = map(stoa, turn).get(name);
            StoredAnswer kept = text == null ? null : StoredAnswer.of(text);
            if (kept == null || kept.hour < hour - 1) continue;
            if (!kept.request.equals(request)) {
              throw new Problem(
                  Problem.UNPROCESSABLE,
                  "KeyOfOther",
                  "the Idempotency-Key " + key + " belongs to another request; use a new key");
            }
            return new Answer(kept.answer, kept.problem);
          }
          Answer answer = calls.get();
          String text = new StoredAnswer(hour, request, answer.json, answer.problem).text();
          if (text.length() > ANSWER_MAX) {
            throw new Problem(
                Problem.UNPROCESSABLE,
                "AnswerTooLarge",
                "the answer takes more than "
                    + ANSWER_MAX
                    + " characters, which are not kept for an Idempotency-Key; nothing was done");
          }
          map(stoa, hour).fastPut(name, text);
          return answer;
        });
  }

  private static ShardedMap<String, String> map(Stoa stoa, long hour) {
    String name = MAPS + Math.floorMod(hour, TURNS);
    return stoa.shardedMap(name, String.class, String.class, SHARDS);
  }

  /// Empties the map that the next hour but one will use.
  private void empty(Stoa stoa, long hour) {
    long before = emptied.getAndSet(hour);
    if (before == hour) return;
    try {
      map(stoa, hour + 2).clear();
    } catch (StoaException failed) {
      emptied.compareAndSet(hour, before); // a later request does it; old answers count as none
    }
  }

  private static String hash(byte[] one, byte[] other) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      digest.update(one);
      digest.update((byte) 0);
      digest.update(other);
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }

  /// Returns the problem of a kept answer, as an answer.
  static @Nullable JsonObject problem(Answer answer) {
    return answer.problem ? answer.json.getAsJsonObject() : null;
  }
}
