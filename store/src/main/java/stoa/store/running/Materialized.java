package stoa.store.running;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.Check;
import stoa.base.CheckpointRule;
import stoa.base.Key;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;

/// The state of one key as of a stream address. It can move forward along the stream.
///
/// One thread at a time uses it.
@SuppressWarnings("exports") // see the package
public final class Materialized {
  /*
   * Checkpoints. A checkpoint encodes the handler and replaces it by the decoded copy. It follows a
   * put when CheckpointRule says so: when the bytes put since the last checkpoint reach the size of that
   * checkpoint, and a minimum. And it stands where the stream has a CHECKPOINT entry, which a trim logs. The rule
   * looks only at the stream, so that every replica and every replay makes checkpoints at the same
   * addresses and continues with the same shape in memory. The rule bounds replay, and it bounds
   * the bytes spent on checkpoints by the bytes put.
   *
   * Invariants:
   * (1) handler is null iff generation is 0: the key is absent at position. A put that began a
   *     generation and was taken back leaves the key absent, and voids the puts behind it until the
   *     next put that begins a generation.
   * (2) The state reflects exactly the puts of the generation at or below position that were not
   *     taken back.
   */
  private static final int BASE_BYTES = 512;

  /// The log counter of no change.
  static final long NOTHING = -1;

  private static final Logger LOG = LoggerFactory.getLogger(Materialized.class);

  /// The purpose of a state.
  enum Use {
    /// The state serves calls or readers where the key lives.
    READ,
    /// A replica that follows compares the state, and keeps its checkpoints.
    FOLLOWED,
    /// A replica that follows compares the state, and keeps nothing of it.
    TRIED
  }

  private final Loader loader;
  private final Key key;
  private final HandlerFactory factory;
  private final Use use;

  private @Nullable Handler handler;
  private long generation;
  private long position;
  private long stateBytes;
  private long bytesSince;
  private @Nullable Answer lastAnswer;

  // How many answers the key in memory had lost when its state began to load.
  private int answersLost;

  // The tick at which the time limit ends of the reader that loads the state; 0 without a limit.
  private int end;

  // Identifies the last decoded or created handler: handlers that fork cheaply and have the same
  // base share most of their state. Null until a reader asks for it.
  private @Nullable Object base;

  Materialized(Loader loader, Key key, HandlerFactory factory, Use use) {
    this.loader = loader;
    this.key = key;
    this.factory = factory;
    this.use = use;
  }

  /// Returns whether this store executes the log of a leader elsewhere.
  private boolean follows() {
    return use != Use.READ;
  }

  /// Returns whether the store keeps checkpoints of this state.
  ///
  /// @param resident the key in memory for which the state is loaded; null for none
  private boolean keeps(@Nullable Resident resident) {
    return use == Use.FOLLOWED || resident != null;
  }

  /// Sets the tick at which a reader's time is over, 0 for none; returns this.
  public Materialized until(int tick) {
    end = tick;
    return this;
  }

  /// Returns the address of the last executed put or deletion.
  public long position() {
    return position;
  }

  /// Returns the address at which the key's generation began, 0 when it is absent.
  public long generation() {
    return generation;
  }

  /// Returns about how much memory it takes, in encoded bytes.
  public long weight() {
    return BASE_BYTES + stateBytes + bytesSince;
  }

  /// Brings a new instance to an address, by the nearest checkpoint and the entries behind it.
  ///
  /// @param end the last address whose entries may contain answers and verdicts
  /// @param resident the key whose unfinished calls this resumes, or null in a view of the past
  /// @return the log counter of the last put or deletion that this executed; [#NOTHING] when a
  ///   checkpoint, or the absence of the key, is all that it needed
  long load(long target, long end, @Nullable Resident resident) {
    return load(target, end, resident, target);
  }

  /// Brings a new instance to an address and returns the answer of the put there, null when a
  /// verdict took the put back or the put found its key absent.
  @Nullable Answer loadAnswer(long target, long end) {
    var _ = load(target, end, null, target - 1);
    return lastAnswer;
  }

  /// Returns the answer of the put at an address if that is the last put that loading executed;
  /// null otherwise.
  public @Nullable Answer answerAt(long address) {
    return address == position ? lastAnswer : null;
  }

  private long load(long target, long end, @Nullable Resident resident, long checkpointMax) {
    Check.that(position == 0, "%s is loaded once", key);
    if (resident != null) {
      answersLost = resident.answersLost();
      return replay(target, end, resident, checkpointMax);
    }
    loader.timeline.check(key, target);
    long last;
    try {
      last = replay(target, end, null, checkpointMax);
    } catch (RuntimeException failure) {
      loader.timeline.check(key, target); // which tells more
      throw failure;
    }
    loader.timeline.check(key, target);
    return last;
  }

  /// Loads a state of the past like [#load], for a caller that asks [Retention] itself.
  ///
  /// @throws TooOld when the store has released the entries from which the state is made
  public void load(long target, long end) {
    try {
      var _ = replay(target, end, null, target);
    } catch (RuntimeException failure) {
      checkKept(target); // which tells more
      throw failure;
    }
    checkKept(target);
  }

  private void checkKept(long target) {
    if (isReleased(target)) {
      throw new TooOld(key, target, loader.timeline.oldest(key));
    }
  }

  /// Returns whether the store has released the entry at an address, and those before it.
  private boolean isReleased(long address) {
    return address < loader.streams.firstKept(key.stream());
  }

  private long replay(long target, long end, @Nullable Resident resident, long checkpointMax) {
    long known = resident == null ? 0 : resident.generationAt(target);
    long began = known > 0 ? known : began(target);
    if (began == 0) return NOTHING;
    return play(base(began, checkpointMax), target, end, resident);
  }

  /// Returns the address at which the generation of an address began; 0 when the key is absent
  /// there.
  private long began(long target) {
    Streams.At begin = loader.streams.lastMark(key.stream(), target);
    if (begin == null) return 0;
    if (Records.mark(begin.data()).alive()) return begin.address();
    position = begin.address();
    return 0;
  }

  /// Restores the last checkpoint of a generation. Returns the first address to execute from there.
  ///
  /// @param began the address at which the generation began
  /// @param checkpointMax the last address whose checkpoint this may use
  private long base(long began, long checkpointMax) {
    Streams streams = loader.streams;
    long from = began;
    Streams.At checkpoint = streams.lastCheckpoint(key.stream(), checkpointMax);
    if (checkpoint != null && checkpoint.address() >= from) {
      handler = factory.restore(key, checkpoint.data());
      generation = began;
      stateBytes = checkpoint.data().length;
      position = checkpoint.address();
      from = position + 1;
    }
    return from;
  }

  /// Begins to load for a replica that follows and must see every version. Unlike [#load(long,
  /// long)], this executes nothing; it returns the entries to execute, from the nearest checkpoint
  /// in front of the target on.
  public Part begin(long target, long end) {
    Check.that(position == 0, "%s is loaded once", key);
    long began = began(target);
    if (began == 0) return new Part(new ArrayList<>(), new LoggedAnswers());
    return part(base(began, target - 1), target, end);
  }

  /// Brings a state of the past forward to a later address, by the entries between. Returns false
  /// when the store has released some of these entries; the state is then of no further use.
  ///
  /// @param end as in [#load]
  public boolean advance(long target, long end) {
    Check.that(position <= target, "%s goes forward from %s to %s", key, position, target);
    long from = position + 1;
    try {
      var _ = play(from, target, end, null);
    } catch (RuntimeException failure) {
      if (!isReleased(from)) throw failure;
    }
    return !isReleased(from);
  }

  private long play(long from, long target, long end, @Nullable Resident resident) {
    Part part = part(from, target, end);
    long last = NOTHING;
    for (StoredEntry entry : part.changes) {
      execute(entry, part.logged, resident);
      if (entry.kind() != Records.CHECKPOINT) last = entry.log().counter();
    }
    return last;
  }

  /// A part of a stream.
  ///
  /// @param changes the puts, deletions and logged checkpoints in the part
  /// @param logged the answers and verdicts of these puts
  public record Part(List<StoredEntry> changes, LoggedAnswers logged) {}

  private Part part(long from, long target, long end) {
    var logged = new LoggedAnswers();
    var changes = new ArrayList<StoredEntry>();
    var behind = new boolean[1];
    loader.streams.scan(
        key.stream(),
        from,
        end,
        entry -> {
          boolean within = entry.address() <= target;
          if (entry.kind() == Records.CHECKPOINT) {
            // A replica that follows makes the checkpoint of the target, too: no request asks for
            // it later.
            if (within || (use == Use.FOLLOWED && !behind[0])) changes.add(entry);
          } else if (!Records.isChange(entry)) {
            logged.note(entry);
          } else if (within) {
            changes.add(entry);
          } else {
            behind[0] = true;
          }
          return true;
        });
    return new Part(changes, logged);
  }

  /// Executes one entry of a part, after all earlier entries.
  public void execute(StoredEntry entry, LoggedAnswers logged) {
    execute(entry, logged, null);
  }

  private void execute(StoredEntry entry, LoggedAnswers logged, @Nullable Resident resident) {
    if (follows()) loader.health.checkOpen();
    if (entry.kind() == Records.DELETE) {
      delete(entry.address());
      return;
    }
    if (entry.kind() == Records.CHECKPOINT) {
      if (resident != null) loader.barrier.awaitLoading(resident, answersLost);
      checkpoint(keeps(resident));
      return;
    }
    Records.Put put = Records.put(entry.payload());
    if (logged.isTakenBack(entry.address()) || (handler == null && !put.begins())) {
      position = entry.address();
      lastAnswer = null;
    } else {
      replay(entry, put, logged, resident);
    }
  }

  private void replay(
      StoredEntry entry, Records.Put put, LoggedAnswers logged, @Nullable Resident resident) {
    Execution execution = Execution.again(loader.runs, key, resident, entry, put, logged);
    if (put.copied()) copy();
    loader.runs.bans.refuseFatal(execution, put, put.begins() ? entry.address() : generation);
    if (resident != null) {
      resident.running = execution;
      Request own = resident.waitingAt(entry.address());
      if (own != null) execution.ticksMax = loader.runs.runners.left(own);
    } else if (end != 0) {
      loader.runs.limits.checkTime(key, end);
      execution.ticksMax = loader.runs.limits.left(end);
    }
    loader.runs.runners.enter(execution);
    try {
      lastAnswer = put(put.begins(), put.opening(), put.value(), execution);
      execution.gate();
      if (isCheckpointDue(put.value().length)) execution.gateAll();
    } catch (Execution.Unwinding stop) {
      Execution.Unwinding by = execution.stopped(stop);
      throw by instanceof Execution.Abandoned ? lost(resident) : by;
    } catch (RuntimeException failure) {
      if (!execution.finish()) throw lost(resident);
      loader.runs.runners.passed(execution);
      throw failure;
    } catch (Error error) {
      if (execution.isTakenBack()) throw lost(resident);
      boolean overflow = error instanceof StackOverflowError;
      if (resident != null && overflow && !loader.runs.threads.mayRunLong()) {
        throw new Execution.Yielded(); // a worker has more stack
      }
      // An out-of-memory error says nothing about the put, which an earlier run may have answered.
      if (resident == null || execution.isKnownToStand() || !overflow) {
        throw new stoa.CallFailed("version " + position + " of " + key + " cannot be run", error);
      }
      loader.runs.verdicts.takeBack(execution, error);
      throw new Execution.Abandoned();
    } finally {
      loader.runs.runners.exit(execution);
      if (resident != null && !execution.isTakenBack()) resident.running = null;
    }
    if (!execution.finish()) throw lost(resident);
    loader.runs.runners.passed(execution);
    execution.settleLong();
    Consumer<Sequel> left = resident == null ? null : execution.left();
    if (left == null || resident == null) {
      loader.runs.unfinished.ends(key, entry.address(), execution.lastNote());
    } else {
      resident.follow(entry.address(), entry.log().counter(), left);
    }
    if (resident != null && resident.sequels() != null && isCheckpointDue(put.value().length)) {
      loader.barrier.awaitLoading(resident, answersLost); // see Resident.awaitFollowed
    }
    settle(put.value().length, keeps(resident));
    if (resident != null) resident.passed(entry.address());
  }

  /// Returns the error after a run was taken back; throws when the time of a reader of the past is
  /// over.
  private Execution.Unwinding lost(@Nullable Resident resident) {
    if (resident == null && end != 0) throw TimeLimits.lateReading(key);
    return new Execution.Abandoned();
  }

  /// Executes a put at the execution's address. When the put stands, the caller must call
  /// [#settle].
  Answer put(boolean begins, byte @Nullable [] opening, byte[] value, Execution execution) {
    if (begins) begin(execution.address(), factory.create(key, opening, execution));
    Handler current = handler;
    Check.that(current != null, "%s exists at %s", key, execution.address());
    position = execution.address();
    execution.generation(generation);
    return java.util.Objects.requireNonNull(current).put(value, execution);
  }

  private void begin(long address, Handler created) {
    handler = created;
    base = null;
    generation = address;
    stateBytes = 0;
    bytesSince = 0;
  }

  /// Replaces the state by a copy, which has the same shape in memory as the copy on which a
  /// transaction ran.
  void copy() {
    Handler current = handler;
    if (current == null) return;
    if (!factory.forksCheaply(current)) base = null;
    handler = factory.fork(key, current);
  }

  /// Returns a copy of the state for use elsewhere.
  WorkingCopy copy(long tail) {
    Handler current = handler;
    Handler copied = current == null ? null : factory.fork(key, current);
    var state = new State(copied, generation, position, stateBytes, bytesSince, new Object());
    return new WorkingCopy(key, factory, state, tail);
  }

  /// Passes a put that a verdict took back before it ran.
  void skip(long address) {
    position = address;
    lastAnswer = null;
  }

  /// Ends the generation.
  void delete(long address) {
    handler = null;
    generation = 0;
    stateBytes = 0;
    bytesSince = 0;
    position = address;
  }

  /// Accounts for an executed put, and makes a checkpoint when one is due.
  void settle(int valueBytes) {
    settle(valueBytes, true);
  }

  /// @param kept whether the store keeps the checkpoint for others, as it does where the key lives
  private void settle(int valueBytes, boolean kept) {
    boolean due = isCheckpointDue(valueBytes);
    bytesSince += CheckpointRule.weightOf(valueBytes);
    if (due) checkpoint(kept);
  }

  /// Makes a checkpoint of the present version, unless the state has just made one.
  void checkpoint() {
    checkpoint(true);
  }

  /// @param kept as in [#settle(int, boolean)]
  private void checkpoint(boolean kept) {
    Handler current = handler;
    if (current == null || bytesSince == 0) return;
    bytesSince = 0;
    byte[] state;
    Handler restored;
    try {
      state = current.checkpoint();
      restored = factory.restore(key, state);
    } catch (RuntimeException | StackOverflowError failure) {
      // If this replica skipped the checkpoint that the leader made, their states would differ in
      // shape.
      if (follows()) throw failure;
      // Replay begins further back; the put is done and stands.
      LOG.warn("no checkpoint of {} at {}: {}", key, position, failure.toString());
      return;
    }
    if (kept) loader.keeper.checkpoint(key, generation, position, state);
    handler = restored;
    stateBytes = state.length;
    base = null;
  }

  /// Returns whether a checkpoint follows a put that the handler executes now.
  boolean isCheckpointDue(int valueBytes) {
    return CheckpointRule.isDue(bytesSince, stateBytes, valueBytes);
  }

  /// The state as the store keeps it for readers of the past.
  ///
  /// @param handler null when the key is absent
  /// @param generation the address at which the generation began, 0 when the key is absent
  /// @param position the address of the last executed put or deletion
  /// @param stateBytes the size of the last checkpoint
  /// @param bytesSince the bytes put since that
  /// @param base the same object for states that share most of their memory
  public record State(
      @Nullable Handler handler,
      long generation,
      long position,
      long stateBytes,
      long bytesSince,
      Object base) {
    /// Returns this state with a fork of the handler, which shares most of its memory.
    public State withFork(@Nullable Handler fork) {
      return new State(fork, generation, position, stateBytes, bytesSince, base);
    }

    /// Returns this state with another instance of the handler, which shares no memory.
    public State withOwn(@Nullable Handler own) {
      return new State(own, generation, position, stateBytes, bytesSince, new Object());
    }
  }

  /// Returns a copy of the state when that takes little time and space; null otherwise.
  public @Nullable State cheapFork() {
    Handler current = handler;
    if (current == null) return state();
    return factory.forksCheaply(current) ? state().withFork(factory.fork(key, current)) : null;
  }

  /// Encodes the state with the handler; returns no bytes when the key is absent.
  public byte[] encoded() {
    Handler current = handler;
    return current == null ? new byte[0] : current.checkpoint();
  }

  /// Returns whether a copy takes little time and space.
  public boolean forksCheaply() {
    Handler current = handler;
    return current == null || factory.forksCheaply(current);
  }

  /// Returns the state, with the handler itself and not a copy.
  public State state() {
    Object shared = base;
    if (shared == null) {
      shared = new Object();
      base = shared;
    }
    return new State(handler, generation, position, stateBytes, bytesSince, shared);
  }

  /// Begins with a given state.
  public void begin(State with) {
    Check.that(position == 0, "%s is loaded once", key);
    handler = with.handler;
    generation = with.generation;
    position = with.position;
    stateBytes = with.stateBytes;
    bytesSince = with.bytesSince;
    base = with.base;
  }

  /// Asks the handler a question; asks a new handler when the key is absent.
  public Answer get(@Nullable Object query, byte @Nullable [] opening, Execution execution) {
    Handler current = handler;
    if (current == null) current = factory.create(key, opening, execution);
    execution.generation(generation);
    return current.get(query, execution);
  }
}
