package stoa.store.running;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.Check;
import stoa.base.Key;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;

/// The state of one key as of a stream address, and how it gets there.
///
/// One thread at a time uses it.
@SuppressWarnings("exports") // see the package
public final class Materialized {
  /*
   * Checkpoints. The handler is encoded, and replaced by what is decoded from that, after a put, when
   * the bytes put since the last checkpoint reach max(CHECKPOINT_BYTES_MIN, size of that checkpoint),
   * and where the stream has a CHECKPOINT entry, which a trim logs. The rule looks only at the stream,
   * so that every replica, and every replay, does this at the same addresses and goes on with the same
   * shape in memory. It bounds replay, and the bytes spent on checkpoints by the bytes put.
   *
   * Invariants:
   * (1) handler is null iff generation is 0: the key is absent at position. A put that was taken
   *     back and that began a generation leaves it absent, and voids the puts behind it until the
   *     next beginning.
   * (2) The state reflects exactly the puts of the generation at or below position that were not
   *     taken back.
   */
  public static final int CHECKPOINT_BYTES_MIN = 64 << 10;
  private static final int BASE_BYTES = 512;
  private static final long PUT_BYTES = 32;
  private static final Logger LOG = LoggerFactory.getLogger(Materialized.class);

  /// What a state is made for.
  enum Use {
    /// To be gone on with, or read, where the key lives.
    READ,
    /// To be compared at a replica that follows, which keeps its checkpoints.
    FOLLOWED,
    /// To be compared, and not kept.
    TRIED
  }

  private final Loader loader;
  private final Runs runs;
  private final Key key;
  private final HandlerFactory factory;
  private final Use use;

  private @Nullable Handler handler;
  private long generation;
  private long position;
  private long stateBytes;
  private long bytesSince;
  private @Nullable Answer lastAnswer;

  /// The tick at which the time of the reader is over who has it loaded; 0 for none.
  private int end;

  /// Stands for what was last decoded or created: handlers that fork cheaply and have the same base
  /// share most of their state.
  private Object base = new Object();

  Materialized(Loader loader, Key key, HandlerFactory factory, Use use) {
    this.loader = loader;
    this.runs = loader.runs;
    this.key = key;
    this.factory = factory;
    this.use = use;
  }

  /// Whether the store executes what another one leads.
  private boolean follows() {
    return use != Use.READ;
  }

  /// Whether checkpoints are kept.
  ///
  /// @param resident the key in memory that is loaded; null for none
  private boolean keeps(@Nullable Resident resident) {
    return use == Use.FOLLOWED || resident != null;
  }

  /// The same for a reader whose time is over at a tick; 0 for none.
  public Materialized until(int tick) {
    end = tick;
    return this;
  }

  /// The address of the last executed put or deletion.
  public long position() {
    return position;
  }

  /// The address at which the key's generation began, 0 when it is absent.
  public long generation() {
    return generation;
  }

  /// About how much memory it takes, in encoded bytes.
  public long weight() {
    return BASE_BYTES + stateBytes + bytesSince;
  }

  /// Brings a new instance to an address, by the nearest checkpoint and the entries behind it.
  ///
  /// @param end the last address whose entries may tell answers and verdicts
  /// @param resident whose calls go on when they are found unfinished, or null in a view of the
  ///   past
  void load(long target, long end, @Nullable Resident resident) {
    load(target, end, resident, target);
  }

  /// Brings a new instance to an address and answers what the put there answered, null when it was
  /// taken back or found its key absent.
  @Nullable Answer loadAnswer(long target, long end) {
    load(target, end, null, target - 1);
    return lastAnswer;
  }

  /// The answer of the put at an address, when loading executed that last; null when it did not.
  @Nullable Answer answerAt(long address) {
    return address == position ? lastAnswer : null;
  }

  private void load(long target, long end, @Nullable Resident resident, long checkpointMax) {
    Check.that(position == 0, "%s is loaded once", key);
    if (resident != null) {
      replay(target, end, resident, checkpointMax);
      return;
    }
    loader.timeline.check(key, target);
    try {
      replay(target, end, null, checkpointMax);
    } catch (RuntimeException failure) {
      loader.timeline.check(key, target); // which tells more
      throw failure;
    }
    loader.timeline.check(key, target);
  }

  /// As [#load] of a state of the past, for a caller that asks [Retention] itself.
  ///
  /// @throws TooOld when what the state is made from was released
  public void load(long target, long end) {
    try {
      replay(target, end, null, target);
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

  /// Whether the entry at an address is released, and those before.
  private boolean isReleased(long address) {
    return address < loader.streams.firstKept(key.stream());
  }

  private void replay(long target, long end, @Nullable Resident resident, long checkpointMax) {
    long from = base(target, checkpointMax);
    if (from > 0) play(from, target, end, resident);
  }

  /// Goes to the checkpoint or beginning from which an address is reached, and answers from where
  /// on entries are to be executed; 0 when there is nothing to execute.
  ///
  /// @param checkpointMax the last address whose checkpoint may be used
  private long base(long target, long checkpointMax) {
    Streams streams = loader.streams;
    Streams.At begin = streams.lastMark(key.stream(), target);
    if (begin == null) return 0;
    if (!Records.mark(begin.data()).alive()) {
      position = begin.address();
      return 0;
    }
    long from = begin.address();
    Streams.At checkpoint = streams.lastCheckpoint(key.stream(), checkpointMax);
    if (checkpoint != null && checkpoint.address() >= from) {
      handler = factory.restore(key, checkpoint.data());
      generation = from;
      stateBytes = checkpoint.data().length;
      position = checkpoint.address();
      from = position + 1;
    }
    return from;
  }

  /// As [#load(long, long)], for a replica that follows and wants to see every version: executes
  /// nothing yet, and answers what there is to execute, from the nearest checkpoint in front of the
  /// target on.
  public Part begin(long target, long end) {
    Check.that(position == 0, "%s is loaded once", key);
    long from = base(target, target - 1);
    return from == 0 ? new Part(new ArrayList<>(), new LoggedAnswers()) : part(from, target, end);
  }

  /// Brings a state of the past forward to a later address, by the entries between. Answers false
  /// when some of these were released: then this is of no use any more.
  ///
  /// @param end as in [#load]
  public boolean advance(long target, long end) {
    Check.that(position <= target, "%s goes forward from %s to %s", key, position, target);
    long from = position + 1;
    try {
      play(from, target, end, null);
    } catch (RuntimeException failure) {
      if (!isReleased(from)) throw failure;
    }
    return !isReleased(from);
  }

  private void play(long from, long target, long end, @Nullable Resident resident) {
    Part part = part(from, target, end);
    for (StoredEntry entry : part.changes) execute(entry, part.logged, resident);
  }

  /// A part of a stream.
  ///
  /// @param changes the puts, deletions and logged checkpoints there
  /// @param logged what is told of them
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
            // A replica that follows makes the checkpoint of the target, too: no request asks
            // for
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

  /// Executes one entry of a part; those before were.
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
      if (resident != null) loader.barrier.await(resident);
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
    Execution execution = Execution.again(runs, key, resident, entry, put, logged);
    if (put.copied()) copy();
    runs.bans.refuseFatal(execution, put, put.begins() ? entry.address() : generation);
    if (resident != null) {
      resident.running = execution;
      Request own = resident.waitingAt(entry.address());
      if (own != null) execution.ticksMax = runs.runners.left(own);
    } else if (end != 0) {
      runs.limits.checkTime(key, end);
      execution.ticksMax = runs.limits.left(end);
    }
    runs.runners.enter(execution);
    try {
      lastAnswer = put(put.begins(), put.opening(), put.value(), execution);
      execution.gate();
      if (isCheckpointDue(put.value().length)) execution.gateAll();
    } catch (Execution.Unwinding stop) {
      Execution.Unwinding by = execution.stopped(stop);
      throw by instanceof Execution.Abandoned ? lost(resident) : by;
    } catch (RuntimeException failure) {
      if (!execution.finish()) throw lost(resident);
      throw failure;
    } catch (Error error) {
      if (execution.isTakenBack()) throw lost(resident);
      boolean overflow = error instanceof StackOverflowError;
      if (resident != null && overflow && !runs.threads.mayRunLong()) {
        throw new Execution.Yielded(); // a worker has more stack
      }
      // A lack of memory says nothing about the put, which may have been answered long ago.
      if (resident == null || execution.isKnownToStand() || !overflow) {
        throw new stoa.CallFailed("version " + position + " of " + key + " cannot be run", error);
      }
      runs.verdicts.takeBack(execution, error);
      throw new Execution.Abandoned();
    } finally {
      runs.runners.exit(execution);
      if (resident != null && !execution.isTakenBack()) resident.running = null;
    }
    if (!execution.finish()) throw lost(resident);
    runs.runners.passed(execution);
    execution.settleLong();
    runs.unfinished.ends(key, entry.address(), execution.lastNote());
    settle(put.value().length, keeps(resident));
    if (resident != null) resident.passed(entry.address());
  }

  /// What is thrown when a run was taken back: for a reader of the past, its time was over.
  private Execution.Unwinding lost(@Nullable Resident resident) {
    if (resident == null && end != 0) throw TimeLimits.lateReading(key);
    return new Execution.Abandoned();
  }

  /// Executes a put at the execution's address. [#settle] must follow when it stands.
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
    base = new Object();
    generation = address;
    stateBytes = 0;
    bytesSince = 0;
  }

  /// Goes on with a copy of the state, which has the same shape in memory as the one on which a
  /// transaction ran.
  void copy() {
    Handler current = handler;
    if (current == null) return;
    if (!factory.forksCheaply(current)) base = new Object();
    handler = factory.fork(key, current);
  }

  /// A copy of the state, to go on with elsewhere.
  Copy copy(long tail) {
    Handler current = handler;
    return new Copy(
        key, factory, state().withOwn(current == null ? null : factory.fork(key, current)), tail);
  }

  /// Passes a put that was taken back before it ran.
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

  /// Accounts for an executed put, and checkpoints when it is time.
  void settle(int valueBytes) {
    settle(valueBytes, true);
  }

  /// @param kept whether the checkpoint is kept for others, as it is where the key lives
  private void settle(int valueBytes, boolean kept) {
    boolean due = isCheckpointDue(valueBytes);
    bytesSince += weightOf(valueBytes);
    if (due) checkpoint(kept);
  }

  /// Makes a checkpoint of the present version. No effect right after another one.
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
      // Where the state goes on otherwise, nobody else might.
      if (follows()) throw failure;
      // Replay begins further back; the put is done and stands.
      LOG.warn("no checkpoint of {} at {}: {}", key, position, failure.toString());
      return;
    }
    if (kept) loader.keeper.checkpoint(key, generation, position, state);
    handler = restored;
    stateBytes = state.length;
    base = new Object();
  }

  /// Whether a checkpoint follows a put that is executed now.
  boolean isCheckpointDue(int valueBytes) {
    return isCheckpointDue(bytesSince, stateBytes, valueBytes);
  }

  /// As [#isCheckpointDue(int)].
  ///
  /// @param bytesSince the bytes put since the last checkpoint
  /// @param stateBytes the size of that
  static boolean isCheckpointDue(long bytesSince, long stateBytes, int valueBytes) {
    return bytesSince + valueBytes + PUT_BYTES >= Math.max(CHECKPOINT_BYTES_MIN, stateBytes);
  }

  /// What a put counts for until the next checkpoint.
  static long weightOf(int valueBytes) {
    return valueBytes + PUT_BYTES;
  }

  /// The state as it is kept for readers of the past.
  ///
  /// @param handler null when the key is absent
  /// @param generation the address at which the generation began, 0 when the key is absent
  /// @param position the address of the last executed put or deletion
  /// @param stateBytes the size of the last checkpoint
  /// @param bytesSince the bytes put since that
  /// @param base the same for states that share most of what they take
  public record State(
      @Nullable Handler handler,
      long generation,
      long position,
      long stateBytes,
      long bytesSince,
      Object base) {
    /// The same with a fork of the handler, which shares most of what it takes.
    public State withFork(@Nullable Handler fork) {
      return new State(fork, generation, position, stateBytes, bytesSince, base);
    }

    /// The same with another instance of the handler, which shares nothing.
    public State withOwn(@Nullable Handler own) {
      return new State(own, generation, position, stateBytes, bytesSince, new Object());
    }
  }

  /// A copy of the state, when that takes little time and space; null otherwise.
  public @Nullable State cheapFork() {
    Handler current = handler;
    if (current == null) return state();
    return factory.forksCheaply(current) ? state().withFork(factory.fork(key, current)) : null;
  }

  /// The state as the handler keeps it; nothing when the key is absent.
  public byte[] encoded() {
    Handler current = handler;
    return current == null ? new byte[0] : current.checkpoint();
  }

  /// Whether a copy takes little time and space.
  public boolean forksCheaply() {
    Handler current = handler;
    return current == null || factory.forksCheaply(current);
  }

  /// The state, with the handler itself.
  public State state() {
    return new State(handler, generation, position, stateBytes, bytesSince, base);
  }

  /// Begins with a state.
  public void begin(State with) {
    Check.that(position == 0, "%s is loaded once", key);
    handler = with.handler;
    generation = with.generation;
    position = with.position;
    stateBytes = with.stateBytes;
    bytesSince = with.bytesSince;
    base = with.base;
  }

  /// Asks the handler, or a fresh one when the key is absent.
  public Answer get(@Nullable Object query, byte @Nullable [] opening, Execution execution) {
    Handler current = handler;
    if (current == null) current = factory.create(key, opening, execution);
    execution.generation(generation);
    return current.get(query, execution);
  }
}
