package stoa.raft.core;

import stoa.log.Position;
import stoa.log.Replica;

/// The state machine of a group: a [Replica].
public interface Machine {
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

  /// Completes the machine when it has applied everything that a broken-off catch-up has brought.
  ///
  /// @return whether nothing is missing
  /// @throws RuntimeException when it has failed
  boolean complete();

  /// Records that nothing is missing.
  ///
  /// @throws RuntimeException when it has failed
  void completed();

  /// Returns a replica as such a machine.
  static Machine of(Replica replica) {
    return new Machine() {
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
