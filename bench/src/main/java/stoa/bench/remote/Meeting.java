package stoa.bench.remote;

import java.time.Duration;

/// The lock, the queue, the barrier and the timers of a contender's client. Thread-safe.
public interface Meeting {
  /// Waits for the one lock, which its holder loses after 30 seconds.
  ///
  /// @return the holder's token, 0 where there are none
  long lock() throws Exception;

  /// Releases the lock. The thread that has acquired it calls this.
  void unlock(long token) throws Exception;

  /// Adds an element at the end of the one blocking queue.
  void offer(long element) throws Exception;

  /// Removes and returns the element at the head of the queue; waits while there is none.
  long take() throws Exception;

  /// Returns whether it has [#pass].
  boolean hasBarrier();

  /// Waits until all parties of a round have come here.
  ///
  /// @param party the number of the caller, from 0
  /// @param parties how many there are, the same in each round
  /// @param round the number of the round, from 1; each has all parties, one after the other
  void pass(int party, int parties, long round) throws Exception;

  /// Sets a timer, which rings once after a time. Rings are counted at the server.
  void setTimer(Duration after) throws Exception;

  /// Returns how many timers have rung.
  long rings() throws Exception;
}
