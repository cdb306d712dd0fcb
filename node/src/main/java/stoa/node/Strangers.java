package stoa.node;

import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The connections that have said no hello yet: nobody knows whose they are, so that no session's
/// limits count for them. Thread-safe.
///
/// They have a time, and there is room for so many: one that comes when there is none takes the
/// place of the oldest, so that who says hello at once is heard whatever others do.
final class Strangers {
  private final int countMax;
  private final Duration timeMax;

  // When each came, the oldest first. Guarded by this.
  private final LinkedHashMap<Conversation, Long> since = new LinkedHashMap<>();

  Strangers(int countMax, Duration timeMax) {
    this.countMax = countMax;
    this.timeMax = timeMax;
  }

  /// A connection has come.
  void enter(Conversation conversation, long nowNanos) {
    @Nullable Conversation oldest = null;
    synchronized (this) {
      if (since.size() >= countMax) oldest = since.pollFirstEntry().getKey();
      since.put(conversation, nowNanos);
    }
    if (oldest == null) return;
    oldest.refuse(
        Status.RESOURCE_EXHAUSTED,
        "more than "
            + countMax
            + " connections (helloConnectionsMax) have said no hello, and this is the oldest; say"
            + " hello with the first frame");
  }

  /// One has said hello, or is gone.
  synchronized void leave(Conversation conversation) {
    since.remove(conversation);
  }

  /// Ends those whose time is over.
  void expire(long nowNanos) {
    List<Conversation> late = new ArrayList<>();
    synchronized (this) {
      while (!since.isEmpty() && nowNanos - since.firstEntry().getValue() > timeMax.toNanos()) {
        late.add(since.pollFirstEntry().getKey());
      }
    }
    for (Conversation one : late) {
      one.refuse(
          Status.UNAVAILABLE,
          "no hello came within "
              + timeMax.toMillis()
              + " ms (helloTimeMax); say hello with the first frame");
    }
  }

  /// Ends all.
  void end(Status status, String reason) {
    List<Conversation> all;
    synchronized (this) {
      all = List.copyOf(since.keySet());
      since.clear();
    }
    for (Conversation one : all) one.refuse(status, reason);
  }

  synchronized int count() {
    return since.size();
  }
}
