package stoa.raft.core;

import org.jspecify.annotations.Nullable;
import stoa.raft.Member;

/// The surroundings of a [Core]: threads and a network, or a simulation of them. The core calls it
/// on its own thread.
public interface World {
  /// Returns a clock that only advances.
  long nanos();

  /// Returns a random number from 0 to `bound`, the bound excluded.
  int random(int bound);

  /// Runs a task later on the core's thread, in the order of these calls.
  void submit(Runnable task);

  /// Runs a task on the core's thread after a while.
  void schedule(Runnable task, long delayNanos);

  /// Sends a message, which may be lost. Does not wait.
  void send(Member to, byte[] message);

  /// Begins to bring the machine level with a leader's, and does not wait. [Core#caughtUp] tells
  /// the end.
  void catchUp(Member leader);

  /// Breaks off a catch-up from any other member than this one.
  void leave(@Nullable String leader);

  /// Notes that a rare place was reached. A simulation counts them.
  default void reached(String place) {}
}
