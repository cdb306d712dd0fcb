package stoa.raft.core;

import io.microraft.model.impl.DefaultRaftModelFactory;
import io.microraft.model.log.LogEntry;
import io.microraft.model.log.LogEntry.LogEntryBuilder;
import org.jspecify.annotations.Nullable;

/// Makes MicroRaft's objects: entries of the log are [RaftEntry]s, and a [Proposal] learns that it
/// may have entered the log. MicroRaft's own refusals prove nothing of that.
final class Models extends DefaultRaftModelFactory {
  static final Models ALL = new Models();

  /// The contents of a leader's first entry.
  static final Object BEGIN = new Object();

  @Override
  public LogEntryBuilder createLogEntryBuilder() {
    return new Building();
  }

  private static final class Building implements LogEntryBuilder {
    private long index;
    private int term;
    private @Nullable Object operation;

    @Override
    public LogEntryBuilder setIndex(long value) {
      index = value;
      return this;
    }

    @Override
    public LogEntryBuilder setTerm(int value) {
      term = value;
      return this;
    }

    @Override
    public LogEntryBuilder setOperation(Object value) {
      operation = value;
      return this;
    }

    @Override
    public LogEntry build() {
      Object built = operation;
      if (built == null) throw new IllegalStateException("an entry without contents");
      if (built instanceof Proposal proposal) {
        proposal.appended = true;
        built = new Payload.Command(term, proposal.command);
      } else if (BEGIN.equals(built)) {
        built = new Payload.Begun(term);
      }
      return new RaftEntry(index, term, built);
    }
  }
}
