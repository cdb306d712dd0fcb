package stoa.store.past;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.store.records.Records;

/// The changes that bring a copy of a key in another process up to date: those behind the copy's
/// version, or behind a checkpoint.
///
/// @param version the stream address of the last change in it
/// @param generation the address at which the key's generation began; 0 when the key is absent
/// @param from the log counter of the last change in it
/// @param base the checkpoint or beginning with which the copy begins again; null when it goes on
/// @param changes the puts, deletions and logged checkpoints, in order
/// @param more whether further changes follow, for which the copy asks again
/// @param checkpoint the version of the last checkpoint that the copy makes on its way; 0 for none
@SuppressWarnings("exports") // see the package
public record Shipment(
    long version,
    long generation,
    long from,
    @Nullable Base base,
    List<Change> changes,
    boolean more,
    long checkpoint) {
  /// Where a copy goes on.
  ///
  /// @param version the version of the copy; -1 when it has none from which it can go on
  /// @param generation the generation of the copy
  /// @param known the version of the copy in any case; -1 for none
  /// @param basedMin a copy that begins again does so only by a checkpoint of at least so many
  ///   bytes; 0 for any, and for the beginning of the generation
  /// @param bytesMax about how many bytes of changes it takes at once
  public record From(long version, long generation, long known, int basedMin, int bytesMax) {}

  /// Tells which records the other process can execute. It answers quickly.
  public interface Replays {
    /// Returns whether it can begin with a checkpoint.
    boolean begins(byte[] checkpoint);

    /// Returns whether it can execute a put.
    boolean executes(Records.Put put);

    /// Returns whether it may see the answers of the keys of a space.
    boolean sees(String space);
  }

  /// A checkpoint with which a copy begins.
  ///
  /// @param version the stream address behind which it was made; for a beginning, the address
  ///   before the put that begins
  /// @param checkpoint the encoded state; null when the first change begins the generation
  public record Base(long version, byte @Nullable [] checkpoint) {}

  /// A change that a copy executes.
  ///
  /// @param address the stream address
  /// @param kind the kind of its entry: [Records#PUT] or [Records#CHECKPOINT]
  /// @param nowMicros the time that the leader gave it
  /// @param seed the seed of its random numbers
  /// @param put the put; null for a checkpoint
  /// @param answers the answers to its nested calls, in order
  public record Change(
      long address,
      byte kind,
      long nowMicros,
      long seed,
      Records.@Nullable Put put,
      List<byte[]> answers) {}
}
