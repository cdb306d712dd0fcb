package stoa.store.replicas;

import stoa.log.Batch;

/// What a replica does beside keeping the log, while another one leads. Thread-safe.
public interface Backup extends AutoCloseable {
  /// How far it has come.
  ///
  /// @param waiting how many keys wait or are looked after
  /// @param compared how many states were compared with the leader's
  /// @param diverged how many of these were not the same
  public record Progress(int waiting, long compared, long diverged) {}

  /// A batch is in the streams of this replica. To be called for each, in order, from when this was
  /// opened; what came before is found in the streams. Comes back soon.
  void applied(Batch batch);

  /// How far it has come.
  Progress progress();

  /// Stops. Nothing is written any more when this returns; what was, are whole checkpoints.
  @Override
  void close();
}
