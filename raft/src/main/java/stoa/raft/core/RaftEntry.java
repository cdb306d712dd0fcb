package stoa.raft.core;

import io.microraft.model.log.LogEntry;

/// An entry of the log.
///
/// @param index its place, from 1
/// @param term of the leader that logged it
/// @param operation a [Payload], or a change of the members
record RaftEntry(long index, int term, Object operation) implements LogEntry {
  // About the bytes of an entry beside its command.
  private static final int OVERHEAD = 64;

  @Override
  public long getIndex() {
    return index;
  }

  @Override
  public int getTerm() {
    return term;
  }

  @Override
  public Object getOperation() {
    return operation;
  }

  /// Returns about how many bytes it takes.
  int bytes() {
    return operation instanceof Payload.Command command
        ? command.bytes().length + OVERHEAD
        : OVERHEAD;
  }
}
