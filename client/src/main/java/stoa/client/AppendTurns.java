package stoa.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.StreamKey;

/// The order of a client's appends on each stream, in a store of several groups. Thread-safe.
///
/// A server keeps the order of the appends that go to its group alone. An append to streams of
/// several groups has a commit of its own, which may overtake such an append or be overtaken. So it
/// begins after the earlier appends to its streams have ended, and later ones begin after its end.
final class AppendTurns {
  /// Which other appends may be in progress on the same streams.
  enum Kind {
    /// Others of this kind: their group keeps the order.
    IN_ONE_GROUP,
    /// None.
    OVER_GROUPS
  }

  /// The appends on a stream that may be in progress at one time.
  private static final class Turn {
    private final Kind kind;
    private final @Nullable CompletableFuture<Void> before;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private int open;

    // Whether a server has the first append of a turn that had to wait.
    private boolean begun;

    private Turn(Kind kind, @Nullable CompletableFuture<Void> before) {
      this.kind = kind;
      this.before = before;
    }

    /// Returns whether another append may join: it overtakes none that the same thread has made.
    private boolean takes(Kind other) {
      return kind == Kind.IN_ONE_GROUP && other == kind && (before == null || begun);
    }
  }

  /// An append in its order.
  final class Place {
    private final Map<StreamKey, Turn> turns;
    private final CompletableFuture<Void> begins;

    private Place(Map<StreamKey, Turn> turns, List<CompletableFuture<Void>> before) {
      this.turns = turns;
      this.begins = CompletableFuture.allOf(before.toArray(CompletableFuture<?>[]::new));
    }

    /// Returns whether the append may begin.
    boolean mayBegin() {
      return begins.isDone();
    }

    /// Waits until the append may begin.
    void await() {
      begins.join();
    }

    /// Notes that the append has begun, so that others of its kind may begin beside it.
    void begun() {
      synchronized (AppendTurns.this) {
        for (Turn turn : turns.values()) turn.begun = true;
      }
    }

    /// Ends the append, so that later ones may begin. Called once.
    void leave() {
      AppendTurns.this.leave(turns);
    }
  }

  // The last turn of each stream with an append in progress; guarded by this.
  private final Map<StreamKey, Turn> last = new HashMap<>();

  /// Puts an append behind all earlier ones.
  synchronized Place enter(Collection<StreamKey> streams, Kind kind) {
    var turns = HashMap.<StreamKey, Turn>newHashMap(streams.size());
    var before = new ArrayList<CompletableFuture<Void>>(0);
    for (StreamKey stream : streams) {
      Turn turn = last.get(stream);
      if (turn == null || !turn.takes(kind)) {
        turn = new Turn(kind, turn == null ? null : turn.over);
        last.put(stream, turn);
      }
      turn.open++;
      turns.put(stream, turn);
      if (turn.before != null) before.add(turn.before);
    }
    return new Place(turns, before);
  }

  private void leave(Map<StreamKey, Turn> turns) {
    var over = new ArrayList<CompletableFuture<Void>>(0);
    synchronized (this) {
      turns.forEach((stream, turn) -> {
        if (--turn.open > 0) return;
        last.remove(stream, turn);
        over.add(turn.over);
      });
    }
    for (var one : over) one.complete(null);
  }

  /// Returns how many streams have appends in progress.
  synchronized int size() {
    return last.size();
  }
}
