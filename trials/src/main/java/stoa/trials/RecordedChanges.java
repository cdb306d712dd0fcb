package stoa.trials;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.DeadlineExceeded;
import stoa.History;
import stoa.Limits;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Subscription;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.sim.Chance;

/// A consumer of all changes during [RecordedWork], while the store's servers fail. It begins again
/// behind its token at random moments, and when a server is away. Its changes must be those that a
/// later reader gets from any token, and those of the histories of the objects. One thread owns it,
/// and a thread of its own consumes.
final class RecordedChanges implements AutoCloseable {
  private static final int ATTEMPTS = 20;
  private static final int TOKENS = 3;
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final Stoa stoa;
  private final Chance chance;
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
  private volatile boolean isOver;

  // Guarded by this.
  private final List<Change<Object>> got = new ArrayList<>();
  private LogAddress token;
  private LogAddress begin;

  /// @param url of the store
  RecordedChanges(String url, Chance chance) {
    this.chance = chance;
    var limits = Limits.standard().withCallTimeMax(RecordedRun.CALL_TIME_MAX);
    stoa = Stoa.open(StoaConfig.of(url).withLimits(limits));
    begin = subscription().position();
    token = begin;
    Thread.ofVirtual().start(this::consume);
  }

  private Subscription subscription() {
    return stoa.subscribe("recorded changes", Duration.ofDays(1));
  }

  private void consume() {
    try {
      while (!isOver) {
        try (ChangeStream<Object> changes = stoa.changes(Changes.all().after(token()))) {
          consume(changes, chance.between(1, 2_000));
        } catch (Unavailable | DeadlineExceeded away) {
          // It goes on behind its token.
        }
      }
      ended.complete(null);
    } catch (InterruptedException | RuntimeException | Error failed) {
      ended.completeExceptionally(failed);
    }
  }

  private void consume(ChangeStream<Object> changes, int many) throws InterruptedException {
    var part = new ArrayList<Change<Object>>();
    for (int left = many; left > 0 && !isOver; left--) {
      var next = changes.next(PAUSE);
      if (next.isEmpty()) continue;
      part.add(next.get());
      if (!next.get().at().isLast()) continue;
      synchronized (this) {
        got.addAll(part);
        token = changes.token();
      }
      part.clear();
    }
  }

  private synchronized LogAddress token() {
    return token;
  }

  /// Lets the store release what the consumer has handled.
  void acknowledge() {
    LogAddress handled = token();
    for (int attempt = 1; ; attempt++) {
      try {
        subscription().acknowledge(handled);
        break;
      } catch (UnknownOutcome | Unavailable later) {
        if (attempt == ATTEMPTS) throw later;
      }
    }
    synchronized (this) {
      begin = handled;
      got.removeIf(change -> change.at().address().compareTo(handled) <= 0);
    }
  }

  /// Ends the consumer, and compares what it got.
  ///
  /// @throws AssertionError when it differs
  void require() throws InterruptedException {
    isOver = true;
    try {
      ended.get();
    } catch (ExecutionException failed) {
      throw new AssertionError("the consumer of changes failed", failed.getCause());
    }
    same("the changes", read(begin), got);
    for (int i = 0; i < TOKENS && !got.isEmpty(); i++) {
      LogAddress from = got.get(chance.below(got.size())).at().address();
      var rest = got.stream().filter(one -> one.at().address().compareTo(from) > 0).toList();
      same("the changes behind " + from, read(from), rest);
    }
    requireHistories();
  }

  /// Reads the changes behind a log address up to the last one that the consumer got.
  private List<Change<Object>> read(LogAddress from) throws InterruptedException {
    var found = new ArrayList<Change<Object>>();
    if (from.compareTo(token) >= 0) return found;
    try (ChangeStream<Object> changes = stoa.changes(Changes.all().after(from))) {
      while (changes.token().compareTo(token) < 0) found.add(changes.next());
    }
    return found;
  }

  private static void same(String what, List<Change<Object>> one, List<Change<Object>> other) {
    for (int i = 0; i < Math.max(one.size(), other.size()); i++) {
      String here = i < one.size() ? text(one.get(i)) : "nothing";
      String there = i < other.size() ? text(other.get(i)) : "nothing";
      if (here.equals(there)) continue;
      throw new AssertionError("%s: %d is %s, and was %s".formatted(what, i, here, there));
    }
  }

  private static String text(Change<?> change) {
    Change.At at = change.at();
    String kind = change.getClass().getSimpleName();
    return "%s %s %s %s %d/%d"
        .formatted(at.address(), kind, at.object(), at.version(), at.index(), at.size());
  }

  private void requireHistories() {
    var versions = new TreeMap<String, TreeSet<Long>>();
    for (Change<Object> change : got) {
      if (!change.at().object().type().equals(stoa.ref(counter("none")).type())) continue;
      String key = (String) change.at().object().key();
      versions.computeIfAbsent(key, _ -> new TreeSet<>()).add(change.at().version());
    }
    versions.forEach((key, told) -> {
      History<Recorded.Counter> history = stoa.history(counter(key));
      long first = Math.max(told.first(), history.oldest());
      var logged = new TreeSet<Long>();
      for (History.Entry entry : history.entries(first, told.last())) {
        switch (entry.event()) {
          case History.Event.Called _, History.Event.Created _, History.Event.Deleted _ ->
              logged.add(entry.version());
          case History.Event.Cancelled(long call, _) -> logged.remove(call);
          default -> {
            // It is no change.
          }
        }
      }
      if (!logged.equals(told.tailSet(first))) {
        throw new AssertionError(
            "the changes of %s were %s, and its history has %s".formatted(key, told, logged));
      }
    });
  }

  private Recorded.Counter counter(String key) {
    return stoa.get(Recorded.Counter.class, key);
  }

  @Override
  public void close() {
    isOver = true;
    stoa.close();
  }
}
