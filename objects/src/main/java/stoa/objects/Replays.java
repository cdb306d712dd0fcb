package stoa.objects;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.StoaException;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.front.ObjectAnswer;
import stoa.front.marshal.Marshaller;
import stoa.store.Store;
import stoa.store.Store.LoggedPut;

/// Compares the results of logged calls with the results of the same calls in code that a check
/// tries: the answers, and the states after them. It executes each call twice on the state before
/// it, with its own code and with the other. One thread uses it.
///
/// Both executions take the answers of other objects from the log. A call that asks them more in
/// the other code than in its own counts as different.
final class Replays {
  private static final int ENTRIES = 16;
  private static final int CALLS_MAX = 4;
  private static final int WORDS_MAX = 80;

  private final Catalog catalog;
  private final Store store;
  private final ObjectType tried;
  private long calls;
  private long different;
  private String first = "";

  /// @param tried the type in the code that the check tries
  Replays(Catalog catalog, Store store, ObjectType tried) {
    this.catalog = catalog;
    this.store = store;
    this.tried = tried;
  }

  /// Returns how many calls it has compared.
  long calls() {
    return calls;
  }

  /// Returns how many of them have another answer or state.
  long different() {
    return different;
  }

  /// Returns the difference of the first of these; empty when there is none.
  String first() {
    return first;
  }

  /// Compares the last calls of an object, as far as the log has the state before them.
  void add(Key key) {
    List<LoggedPut> puts =
        store.lastPuts(key, ENTRIES).stream()
            .filter(put -> !catalog.methodOf(key, put.value()).isEmpty())
            .toList();
    for (LoggedPut put : puts.subList(Math.max(0, puts.size() - CALLS_MAX), puts.size())) {
      Replay before;
      try {
        before = rerun(key, put, null);
      } catch (StoaException unreadable) {
        continue; // the log no longer has the state before it, for example
      }
      if (before != null) compare(key, put, before);
    }
  }

  private void compare(Key key, LoggedPut put, Replay before) {
    calls++;
    String now;
    try {
      Replay after = rerun(key, put, tried);
      if (after != null && after.isSame(before)) return;
      now = after == null ? "nothing" : after.words();
    } catch (Corrupt asksMore) {
      now = "it asks other objects what it had not asked them";
    } catch (StoaException failed) {
      now = "it fails: " + failed.getMessage();
    }
    if (different++ > 0) return;
    if (now.equals(before.words())) now += ", and another state is left";
    first =
        "%s, version %d, %s: %s before; now %s"
            .formatted(key, put.address(), catalog.methodOf(key, put.value()), before.words(), now);
  }

  /// The result of a call.
  ///
  /// @param answer the answer, in the form of the tried code
  /// @param words the answer in words
  /// @param state the state after the call, in the same form
  @SuppressWarnings("ArrayRecordComponent") // compared by isSame
  private record Replay(byte @Nullable [] answer, String words, byte @Nullable [] state) {
    boolean isSame(Replay other) {
      boolean answersSame =
          answer == null ? words.equals(other.words) : Arrays.equals(answer, other.answer);
      return answersSame && Arrays.equals(state, other.state);
    }
  }

  private @Nullable Replay rerun(Key key, LoggedPut put, @Nullable ObjectType by) {
    String type = tried.shared().name();
    var run = new ObjectHandler.Rerun(put.address(), by);
    var factory = catalog.factory(type, catalog.active(type)).trying(run);
    Answer answer = store.replay(key, put.address(), factory);
    if (answer == null) return null;
    byte[] encoded = answer.encoded();
    return store.limited(key, () -> rerun(encoded, run));
  }

  private Replay rerun(byte[] encoded, ObjectHandler.Rerun run) {
    byte[] state = run.state(tried);
    Marshaller own = run.executed().marshaller();
    if (encoded[0] != ObjectAnswer.RETURNED) {
      String words = encoded[0] == ObjectAnswer.THREW ? thrown(own, encoded) : "nothing";
      return new Replay(null, words, state);
    }
    Marshaller as = tried.marshaller();
    Object value = as.value(encoded, 1, encoded.length);
    return new Replay(as.value(value), words(String.valueOf(value)), state);
  }

  private static String thrown(Marshaller marshaller, byte[] encoded) {
    Throwable thrown = marshaller.thrown(encoded, 1, encoded.length);
    return words(thrown.getClass().getName() + ": " + thrown.getMessage());
  }

  private static String words(String text) {
    return text.length() <= WORDS_MAX ? text : text.substring(0, WORDS_MAX) + "...";
  }
}
