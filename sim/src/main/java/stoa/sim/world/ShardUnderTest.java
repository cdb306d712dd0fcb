package stoa.sim.world;

import java.util.List;
import stoa.log.ShardLog;
import stoa.log.Streams;

/// A shard that [ShardLogContract] is run on: one implementation of [ShardLog] over one kind of
/// disk.
///
/// One owner.
public interface ShardUnderTest extends AutoCloseable {
  /// The end at which to propose: the same one until [#restart].
  ShardLog leader();

  /// Lets something happen that is under way.
  ///
  /// @return false when nothing is
  boolean step();

  /// Ends the process of the leader, and perhaps others, by a loss of power, recovers them, and
  /// makes a replica that may be another one the leader.
  void restart();

  /// The streams of every replica, as far as it has come.
  List<Streams> replicas();

  /// Lets nothing go wrong by itself any more.
  void calm();

  @Override
  void close();
}
