package stoa.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.transport.Status;

/// The connections without a hello. They belong to no session, so no session's limits count for
/// them. Thread-safe.
///
/// Their time is limited, and there is room for a fixed number. One more takes the place of the
/// oldest, so the server hears a client that says hello at once, whatever others do.
final class Strangers {
  private final int countMax;
  private final Duration timeMax;

  // The arrival time of each, the oldest first. Guarded by this.
  private final LinkedHashMap<ClientConnection, Long> since = new LinkedHashMap<>();

  Strangers(int countMax, Duration timeMax) {
    this.countMax = countMax;
    this.timeMax = timeMax;
  }

  /// Records a new connection.
  void enter(ClientConnection connection, long nowNanos) {
    @Nullable ClientConnection oldest = null;
    synchronized (this) {
      if (since.size() >= countMax) oldest = since.pollFirstEntry().getKey();
      since.put(connection, nowNanos);
    }
    if (oldest == null) return;
    oldest.refuse(
        Status.Code.RESOURCE_EXHAUSTED,
        "more than "
            + countMax
            + " connections (helloConnectionsMax) have said no hello, and this is the oldest; say"
            + " hello with the first frame");
  }

  /// Records that one has said hello, or is gone.
  synchronized void leave(ClientConnection connection) {
    since.remove(connection);
  }

  /// Ends those whose time is over.
  void expire(long nowNanos) {
    List<ClientConnection> late = new ArrayList<>();
    synchronized (this) {
      while (!since.isEmpty() && nowNanos - since.firstEntry().getValue() > timeMax.toNanos()) {
        late.add(since.pollFirstEntry().getKey());
      }
    }
    for (ClientConnection one : late) {
      one.refuse(
          Status.Code.UNAVAILABLE,
          "no hello came within "
              + timeMax.toMillis()
              + " ms (helloTimeMax); say hello with the first frame");
    }
  }

  /// Ends all.
  void end(Status.Code status, String reason) {
    List<ClientConnection> all;
    synchronized (this) {
      all = List.copyOf(since.keySet());
      since.clear();
    }
    for (ClientConnection one : all) one.refuse(status, reason);
  }

  synchronized int count() {
    return since.size();
  }
}
