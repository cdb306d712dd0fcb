package stoa.store.replicas;

import stoa.log.Batch;

/// The work of a replica beside keeping the log, while another one leads. Thread-safe.
public interface FollowerWork extends AutoCloseable {
  /// The progress of a replica.
  ///
  /// @param waiting how many keys wait or are in work
  /// @param compared how many states it has compared with the leader's
  /// @param diverged how many of these were different
  public record Progress(int waiting, long compared, long diverged) {}

  /// Notes a batch that is in the streams of this replica, and returns soon. The caller reports
  /// each batch in order, from the opening of this on; this finds earlier ones in the streams.
  void applied(Batch batch);

  /// Returns the progress.
  Progress progress();

  /// Stops. After this returns, the replica writes nothing more; it has written whole checkpoints
  /// only.
  @Override
  void close();
}
