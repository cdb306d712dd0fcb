package stoa.sim.world;

import java.util.List;
import stoa.log.BatchLog;
import stoa.log.Streams;

/// A log that can lose power, for [BatchLogContract]: one implementation of [BatchLog] over one
/// kind of disk.
///
/// One owner.
public interface PoweredLog extends AutoCloseable {
  /// Returns the log to propose to: the same one until [#restart].
  BatchLog leader();

  /// Lets one of the pending events happen.
  ///
  /// @return false when there is none
  boolean step();

  /// Ends the process of the leader, and perhaps others, by a loss of power, recovers them, and
  /// elects a leader, perhaps another one.
  void restart();

  /// Returns the streams of every replica, as far as it has come.
  List<Streams> replicas();

  /// Stops all failures.
  void calm();

  @Override
  void close();
}
