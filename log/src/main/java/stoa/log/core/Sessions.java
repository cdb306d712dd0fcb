package stoa.log.core;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.log.Sequencer.Known;
import stoa.log.TransactionId;

/// For each session the last append that a shard has taken. Bounded. One owner.
///
/// A session that is forgotten is not taken for a new one: sessions up to the highest one forgotten
/// are [Known#EXPIRED] unless they are here.
public final class Sessions {
  private record Last(long sequence, LogAddress address) {}

  private final int sessionsMax;
  private final SequencedMap<Long, Last> sessions = new LinkedHashMap<>();
  private long floor = Long.MIN_VALUE;

  Sessions(int sessionsMax) {
    this.sessionsMax = sessionsMax;
  }

  /// Notes an append that was taken.
  void take(TransactionId id, LogAddress address) {
    Last last = sessions.remove(id.session());
    boolean newer = last == null || last.sequence < id.sequence();
    sessions.putLast(id.session(), newer ? new Last(id.sequence(), address) : last);
    if (sessions.size() > sessionsMax) expire(sessions.pollFirstEntry().getKey());
  }

  /// Takes sessions up to one for expired, unless they are here.
  void expire(long session) {
    floor = Math.max(floor, session);
  }

  /// What is known about an append.
  public Known known(TransactionId id) {
    Last last = sessions.get(id.session());
    if (last == null) return id.session() <= floor ? Known.EXPIRED : Known.NOT_TAKEN;
    if (last.sequence == id.sequence()) return Known.TAKEN;
    return id.sequence() < last.sequence ? Known.OLD : Known.NOT_TAKEN;
  }

  /// The log address of an append that was taken, or null.
  public @Nullable LogAddress address(TransactionId id) {
    Last last = sessions.get(id.session());
    return last != null && last.sequence == id.sequence() ? last.address : null;
  }
}
