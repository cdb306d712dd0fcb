package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.CheckpointRule;
import stoa.base.Existence;
import stoa.base.Key;

/// A copy of a key's state on which a transaction works. One thread uses it.
public final class WorkingCopy {
  private final Key key;
  private final HandlerFactory factory;
  private @Nullable Handler handler;
  private long generation;

  // The address of the last put or deletion before the copy was made.
  private final long position;

  // Whether an earlier generation existed while the key is absent now.
  private boolean everDeleted;

  /// The last address of the stream when the copy was made.
  final long tail;

  // How many entries the transaction will add to the stream.
  private int added;

  // Like Materialized, this continues with the state that it decodes from a checkpoint.
  private long stateBytes;
  private long bytesSince;

  // Whether nothing was put on this copy yet.
  private boolean fresh = true;

  public WorkingCopy(Key key, HandlerFactory factory, Materialized.State state, long tail) {
    this.key = key;
    this.factory = factory;
    this.handler = state.handler();
    this.generation = state.generation();
    this.position = state.position();
    this.stateBytes = state.stateBytes();
    this.bytesSince = state.bytesSince();
    this.everDeleted = handler == null && position > 0;
    this.tail = tail;
  }

  private WorkingCopy(WorkingCopy from) {
    this.key = from.key;
    this.factory = from.factory;
    Handler current = from.handler;
    this.handler = current == null ? null : factory.fork(key, current);
    this.generation = from.generation;
    this.position = from.position;
    this.everDeleted = from.everDeleted;
    this.tail = from.tail;
    this.added = from.added;
    this.stateBytes = from.stateBytes;
    this.bytesSince = from.bytesSince;
  }

  /// Returns a copy of this copy.
  WorkingCopy fork() {
    return new WorkingCopy(this);
  }

  /// Returns the address at which the generation began, 0 when the key is absent.
  public long generation() {
    return generation;
  }

  /// Returns the address of the last put or deletion before the copy was made.
  public long position() {
    return position;
  }

  /// Encodes the state with the handler; returns null when the key is absent.
  public byte @Nullable [] checkpoint() {
    Handler current = handler;
    return current == null ? null : current.checkpoint();
  }

  /// Returns whether the key does not meet the expectation of a question.
  boolean isGone(Existence expected) {
    return switch (expected) {
      case Existence.Generation(long expectedOne, _) ->
          generation != expectedOne && (generation != 0 || position >= expectedOne);
      case Existence.Undeleted _ -> generation == 0 && everDeleted;
      case Existence.Any _, Existence.Absent _ -> false;
    };
  }

  /// Returns the address at which the generation began before the transaction; 0 when the
  /// transaction began it.
  long committedGeneration() {
    return generation <= position ? generation : 0;
  }

  /// Returns the stream address of the transaction's next entry, if no other call adds to the
  /// stream until the transaction commits.
  long nextAddress() {
    return tail + added + 1;
  }

  /// Returns whether no put has executed on this copy yet; from then on it returns false. The
  /// effect of a put may depend on the form that the copy has in memory. So a thread that executes
  /// the first put a second time first copies the state again.
  boolean claimFirstPut() {
    boolean first = fresh;
    fresh = false;
    return first;
  }

  /// Counts an entry that the transaction will add to the stream.
  void adds() {
    added++;
  }

  Answer put(boolean begins, byte @Nullable [] opening, byte[] value, Execution execution) {
    if (begins) {
      handler = factory.create(key, opening, execution);
      generation = execution.address();
      stateBytes = 0;
      bytesSince = 0;
    }
    execution.generation(generation);
    Handler current = java.util.Objects.requireNonNull(handler);
    Answer answer = current.put(value, execution);
    settle(current, value.length);
    return answer;
  }

  private void settle(Handler current, int valueBytes) {
    boolean due = CheckpointRule.isDue(bytesSince, stateBytes, valueBytes);
    bytesSince += CheckpointRule.weightOf(valueBytes);
    if (!due) return;
    bytesSince = 0;
    byte[] state;
    try {
      state = current.checkpoint();
      handler = factory.restore(key, state);
    } catch (RuntimeException | StackOverflowError failure) {
      return; // as Materialized does
    }
    stateBytes = state.length;
  }

  Answer get(@Nullable Object query, byte @Nullable [] opening, Execution execution) {
    Handler current = handler;
    if (current == null) current = factory.create(key, opening, execution);
    execution.generation(generation);
    return current.get(query, execution);
  }

  void delete() {
    handler = null;
    generation = 0;
    stateBytes = 0;
    bytesSince = 0;
    everDeleted = true;
  }
}
