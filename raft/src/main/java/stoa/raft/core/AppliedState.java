package stoa.raft.core;

import stoa.log.Position;
import stoa.log.Replica;

/// The state machine of Raft at one member: the state to which the member applies the committed
/// commands. It stands for a [Replica].
public interface AppliedState {
  /// Applies the command at a position, and returns the answer; at or below the last position it
  /// changes nothing.
  ///
  /// @throws RuntimeException when it has failed
  byte[] apply(Position at, byte[] command);

  /// Records a position without a command.
  ///
  /// @throws RuntimeException when it has failed
  void advance(Position at);

  /// Makes everything applied durable, and returns its position.
  ///
  /// @throws RuntimeException when it has failed
  Position sync();

  /// Returns the last applied position.
  Position applied();

  /// Returns whether nothing is missing up to [#applied].
  boolean isWhole();

  /// Completes the state when it has applied everything that a broken-off catch-up has brought.
  ///
  /// @return whether nothing is missing
  /// @throws RuntimeException when it has failed
  boolean complete();

  /// Records that nothing is missing.
  ///
  /// @throws RuntimeException when it has failed
  void completed();

  /// Returns a replica as such a state.
  static AppliedState of(Replica replica) {
    return new AppliedState() {
      @Override
      public byte[] apply(Position at, byte[] command) {
        return replica.apply(at, command);
      }

      @Override
      public void advance(Position at) {
        replica.advance(at);
      }

      @Override
      public Position sync() {
        return replica.sync();
      }

      @Override
      public Position applied() {
        return replica.applied();
      }

      @Override
      public boolean isWhole() {
        return replica.isWhole();
      }

      @Override
      public boolean complete() {
        return replica.complete();
      }

      @Override
      public void completed() {
        replica.completed();
      }
    };
  }
}
