package stoa.raft.core;

import io.microraft.impl.RaftNodeImpl;
import io.microraft.impl.log.RaftLog;
import io.microraft.impl.util.ArrayRingbuffer;
import java.lang.reflect.Field;

/// The entries that MicroRaft holds in memory, of which a snapshot drops the first ones.
///
/// After a snapshot, MicroRaft 0.7 may count entries as held that an earlier snapshot has dropped,
/// and cannot send anything to a member that needs one of them. Here the first entry never goes
/// back. The field that tells which one it is has no other access. One thread uses it.
final class HeldEntries {
  private static final Field ENTRIES = entries();

  private final ArrayRingbuffer<?> entries;
  private long first;

  HeldEntries(RaftNodeImpl of) {
    try {
      entries = (ArrayRingbuffer<?>) ENTRIES.get(of.state().log());
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
    first = entries.headSequence();
  }

  private static Field entries() {
    try {
      Field field = RaftLog.class.getDeclaredField("log");
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException other) {
      throw new IllegalStateException("this is not MicroRaft 0.7", other);
    }
  }

  /// Notes that a snapshot has dropped entries. Returns whether the first one went back.
  boolean dropped() {
    long now = entries.headSequence();
    if (now >= first) {
      first = now;
      return false;
    }
    entries.setHeadSequence(first);
    return true;
  }
}
