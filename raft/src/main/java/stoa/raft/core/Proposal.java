package stoa.raft.core;

import java.util.function.Consumer;
import stoa.log.Consensus;

/// A command that is being proposed. One owner: the core.
final class Proposal {
  final byte[] command;
  final long begunNanos;
  private final Consumer<Consensus.Result> done;

  /// Whether it may have entered the log.
  boolean appended;

  private boolean isDone;

  Proposal(byte[] command, long begunNanos, Consumer<Consensus.Result> done) {
    this.command = command;
    this.begunNanos = begunNanos;
    this.done = done;
  }

  void end(Consensus.Result result) {
    if (isDone) return;
    isDone = true;
    done.accept(result);
  }
}
