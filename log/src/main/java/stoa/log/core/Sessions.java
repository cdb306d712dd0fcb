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
  /* The last append of a session that is known; whether there can have been later ones. */
  private record Last(long sequence, LogAddress address, Later later) {}

  private enum Later {
    NONE,
    PERHAPS
  }

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
    sessions.putLast(id.session(), newer ? new Last(id.sequence(), address, Later.NONE) : last);
    if (sessions.size() > sessionsMax) {
      floor = Math.max(floor, sessions.pollFirstEntry().getKey());
    }
  }

  /// Takes what was noted so far for a part of what there was: what is not known of sessions up to
  /// one is expired.
  void expire(long session) {
    floor = Math.max(floor, session);
    sessions.replaceAll((_, last) -> new Last(last.sequence, last.address, Later.PERHAPS));
  }

  /// What is known about an append.
  public Known known(TransactionId id) {
    Last last = sessions.get(id.session());
    if (last == null) return id.session() <= floor ? Known.EXPIRED : Known.NOT_TAKEN;
    if (last.sequence == id.sequence()) return Known.TAKEN;
    if (id.sequence() < last.sequence) return Known.OLD;
    return last.later == Later.NONE ? Known.NOT_TAKEN : Known.EXPIRED;
  }

  /// The log address of an append that was taken, or null.
  public @Nullable LogAddress address(TransactionId id) {
    Last last = sessions.get(id.session());
    return last != null && last.sequence == id.sequence() ? last.address : null;
  }
}
