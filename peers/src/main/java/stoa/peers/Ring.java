package stoa.peers;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceAware;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/// A task of a timer of Hazelcast: counts at the member that runs it.
final class Ring implements Runnable, Serializable, HazelcastInstanceAware {
  private static final long serialVersionUID = 1;

  /// The name of the timers.
  static final String TIMERS = "timers";

  /// The name of the map with the count.
  static final String COUNTERS = "counters";

  /// The key of the count, which no other counter has.
  static final int RUNG = -1;

  private transient @Nullable HazelcastInstance member;

  @Override
  public void setHazelcastInstance(HazelcastInstance instance) {
    member = instance;
  }

  @Override
  public void run() {
    HazelcastInstance here = member;
    if (here == null) throw new IllegalStateException("a timer rings outside of a member");
    here.<Integer, Long>getMap(COUNTERS).executeOnKey(RUNG, new Increment());
  }
}
