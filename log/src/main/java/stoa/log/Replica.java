package stoa.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.StorageException;
import stoa.storage.segment.Commit;

/// One replica of a group: the result of a [Consensus]'s commands on a storage device.
///
/// The same commands lead to the same streams at every replica, and get the same answers. One
/// thread of the consensus applies commands; any thread may call the other methods. The replica
/// syncs nothing before [#sync]: when a crash loses applied commands, the log of the consensus has
/// them, and applies them again. A failure of the device stops this replica alone, whose methods
/// throw from then on.
public final class Replica implements AutoCloseable {
  /*
   * A command becomes one commit of the device, together with its place in the order. So after a crash
   * the device knows exactly the last command that it has, and a repeated command changes nothing. The
   * replica writes nothing for a command without effect: the next commit, or the sync, has its index.
   *
   *    object    space  offset   data
   *    RECORD    0      0        version u8: 1, or 2 when the device has the log of the consensus; index,
   *                              term and fence, all varint
   *    RECORD    0      1        whether the replica is catching up: u8; then the index of the last
   *                              command of which the others have sent something: varint
   *    RECORD    0      2        index and term of the last command that the consensus knows to be here, while
   *                              the replica may have later ones: both varint; nothing otherwise
   *
   * The fence is the index at which the present owner opened its term, which is the number of the term.
   * Batches of lower terms are void, in whatever epoch.
   *
   * Invariants:
   * (1) The device has the whole result of every command at or below `applied`, and nothing of later
   *     commands, with two exceptions: during a catch-up it may have a part of their results, and it
   *     may have later changes of versioned objects at any time (ReplicaObjects).
   * (2) The results of commands at or below `durable` survive a crash.
   * (3) Answers, and the contents of the streams, depend on the commands only. The rest of a released
   *     past on the device does not: each replica keeps the part that its own valid state needs.
   */
  static final StreamId RECORD = StreamId.of("stoa/replica");
  private static final int VERSION = 1;
  static final int WITH_LOG = 2;

  // The most streams whose release waits for readers.
  private static final int HELD_MAX = 65_536;

  /// The place of the log of a replica's consensus.
  public enum LogPlace {
    /// Files beside the device.
    FILES,
    /// The device.
    DEVICE
  }

  private final Device device;
  private final int version;
  private final Extents extents;
  private final @Nullable ReplicaLog log;
  private final ReplicaObjects objects;
  private final Streams streams;
  private final Streams shown;

  // Held while anything is applied or synced.
  private final ReentrantLock lock = new ReentrantLock();

  private final Commit commit = new Commit();
  private final Encoder scratch = new Encoder(1024);
  private volatile State state;
  private volatile Position durable = Position.START;
  private volatile boolean whole;
  private volatile @Nullable Position known;
  private volatile Listener listener = Listener.NONE;
  private volatile @Nullable Throwable failed;

  // Guarded by lock.
  // How far the record on the device is.
  private long recorded;
  // The last command of which a broken-off catch-up has brought something.
  private long sentIndex;
  // How many others are being brought level from here.
  private int supplies;
  // The streams that are released when those replicas are.
  private final Set<StreamId> held = new TreeSet<>();

  /// The result of the commands.
  ///
  /// @param applied the last one
  /// @param fence the term of the present owner
  /// @param tail the end of the log
  record State(Position applied, long fence, BatchLog.Tail tail) {}

  /// Receives the applied commands, in order, on the applying thread, which must not propose: it
  /// would wait for itself. It must not throw.
  public interface Listener {
    /// A listener that ignores everything.
    Listener NONE = new Listener() {};

    /// A batch was committed, and the streams show it.
    default void committed(Batch batch) {}

    /// The epoch was raised.
    default void sealed(long epoch) {}

    /// The valid part of a stream begins at an address now.
    default void trimmed(StreamId stream, long oldest) {}
  }

  /// Opens the replica on a device. The log of a new one will be in files.
  public Replica(Device device) {
    this(device, LogPlace.FILES);
  }

  /// Opens the replica on a device.
  ///
  /// @param place of the log, when the replica is new
  public Replica(Device device, LogPlace place) {
    this.device = device;
    device.useExternalSync();
    this.objects = new ReplicaObjects(device);
    this.version = version(place);
    AppliedExtents applied = version == WITH_LOG ? new AppliedExtents(device) : null;
    this.extents = applied == null ? Extents.all(device) : applied;
    this.streams = new Streams(extents);
    this.shown = new Streams(new ReplicatedExtents(this, ReplicatedExtents.NONE));
    byte[] level = device.read(RECORD, 0, 1);
    this.sentIndex = sent(level);
    this.whole = level == null || level[0] == 0;
    this.known = readKnown();
    this.state = read();
    this.recorded = state.applied().index();
    this.log = applied == null ? null : new ReplicaLog(this, applied);
    if (log != null && device.read(RECORD, 0, 0) == null) put(state);
  }

  private int version(LogPlace place) {
    byte[] record = device.read(RECORD, 0, 0);
    if (record != null) return record[0];
    return place == LogPlace.DEVICE ? WITH_LOG : VERSION;
  }

  /// Makes the contents of a device those of a replica whose consensus has no log before them: of a
  /// restored backup. A device that has been a replica keeps its position; that of a lone server
  /// gets the first one. The log of the consensus follows it. Durable on return.
  public static void adopt(Device device) {
    if (device.read(RECORD, 0, 0) == null) {
      var first = new Encoder(8).u8(VERSION).varint(1).varint(1).varint(0);
      device.append(new Commit().write(RECORD, 0, 0, first.array(), 0, first.size()));
    }
    var replica = new Replica(device);
    if (replica.log != null) replica.log.reset();
    replica.know(null);
    var _ = replica.sync();
  }

  private @Nullable Position readKnown() {
    byte[] noted = device.read(RECORD, 0, 2);
    if (noted == null || noted.length == 0) return null;
    var in = new Decoder(noted);
    long index = in.varint();
    return new Position(in.varint(), index);
  }

  private State read() {
    BatchLog.Tail tail = streams.tail();
    byte[] record = device.read(RECORD, 0, 0);
    if (record == null) {
      requireNew(tail, whole);
      return new State(Position.START, 0, tail);
    }
    var in = new Decoder(record);
    requireKnown(in.u8());
    long index = in.varint();
    long term = in.varint();
    return new State(new Position(term, index), in.varint(), tail);
  }

  /// Requires that a device without the record of a replica has no store on it.
  static void requireNew(Device device) {
    byte[] level = device.read(RECORD, 0, 1);
    requireNew(new Streams(device).tail(), level == null || level[0] == 0);
  }

  private static void requireNew(BatchLog.Tail tail, boolean whole) {
    // During a first catch-up, a crash may have left the log only.
    Check.that(tail.epoch() == 0 || !whole, "the device has a log that is of no replica: %s", tail);
  }

  static void requireKnown(int version) {
    Check.that(
        version == VERSION || version == WITH_LOG,
        "the record of a replica has format %s",
        version);
  }

  /// Sets the listener for later commands.
  public void listen(Listener newListener) {
    listener = newListener;
  }

  // ---- applying

  /// Applies the command at a position, and returns the answer for its proposer. At or below the
  /// last position it changes nothing.
  ///
  /// @throws RuntimeException when this replica has failed, and must be opened again
  public byte[] apply(Position at, byte[] command) {
    Command decoded;
    Command.Answer answer;
    lock.lock();
    try {
      ensureUsable();
      State before = state;
      if (at.index() <= before.applied().index()) return fenced(before).toBytes();
      requireNext(at, before);
      decoded = Command.of(command);
      answer = execute(at, decoded, before);
    } catch (RuntimeException | Error failure) {
      failed = failure;
      throw failure;
    } finally {
      lock.unlock();
    }
    if (answer instanceof Command.Answer.Done) tell(decoded);
    return answer.toBytes();
  }

  /// Records a position at which the consensus has put something of its own.
  public void advance(Position at) {
    lock.lock();
    try {
      State before = state;
      if (at.index() <= before.applied().index()) return;
      requireNext(at, before);
      become(new State(at, before.fence(), before.tail()));
    } finally {
      lock.unlock();
    }
  }

  private void become(State next) {
    state = next;
    if (log != null) log.drop(next.applied().index());
  }

  /// Does work of the log of the consensus, while nothing else changes this replica.
  void exclusively(Runnable work) {
    lock.lock();
    try {
      ensureUsable();
      work.run();
    } catch (StorageException failure) {
      failed = failure;
      throw failure;
    } finally {
      lock.unlock();
    }
  }

  private static void requireNext(Position at, State before) {
    Check.that(at.index() == before.applied().index() + 1, "%s follows %s", at, before.applied());
  }

  private Command.Answer execute(Position at, Command command, State before) {
    return switch (command) {
      case Command.Nothing() -> skip(at, before, new Command.Answer.Done());
      case Command.Open(long fence) -> open(at, fence, before);
      case Command.Write(Batch batch) -> write(at, batch, before);
      case Command.Seal(long term, long epoch) -> {
        if (term < before.fence()) yield skip(at, before, fenced(before));
        yield seal(at, epoch, before);
      }
      case Command.Trim(long term, StreamId stream, long address) -> {
        if (term < before.fence()) yield skip(at, before, fenced(before));
        if (address > streams.oldest(stream)) {
          trim(stream, address, commit.clear());
          put(new State(at, before.fence(), before.tail()));
          yield new Command.Answer.Done();
        }
        yield skip(at, before, new Command.Answer.Done());
      }
      case Command.TrimLog(long term, long counter) -> {
        if (term < before.fence()) yield skip(at, before, fenced(before));
        long first = streams.batchAt(counter);
        // While others catch up it stays; the next one releases it.
        if (first > streams.firstInLog() && supplies == 0) {
          commit.clear().trim(Streams.LOG, Streams.ENTRIES, first);
          put(new State(at, before.fence(), before.tail()));
        }
        yield skip(at, before, new Command.Answer.Done());
      }
      case Command.Change(long term, List<ObjectChange> changes) -> {
        if (term < before.fence()) yield skip(at, before, fenced(before));
        changes.forEach(objects::apply);
        yield skip(at, before, new Command.Answer.Done());
      }
    };
  }

  private void trim(StreamId stream, long address, Commit to) {
    if (supplies == 0) {
      streams.trimTo(stream, address).add(stream, to);
      return;
    }
    to.trim(stream, Streams.OLDEST, address);
    // A forgotten one goes with the next one.
    if (held.size() < HELD_MAX) held.add(stream);
  }

  /// Releases what a trimmed stream needs no longer, since this replica has made a checkpoint.
  void release(StreamId stream) {
    lock.lock();
    try {
      ensureUsable();
      if (supplies > 0) {
        if (held.size() < HELD_MAX) held.add(stream);
        return;
      }
      streams.trimTo(stream, streams.oldest(stream)).add(stream, commit.clear());
      device.appendReserved(commit);
    } catch (StorageException failure) {
      failed = failure;
      throw failure;
    } finally {
      lock.unlock();
    }
  }

  private Command.Answer open(Position at, long fence, State before) {
    if (fence != before.fence()) return skip(at, before, new Command.Answer.Overtaken());
    objects.forget(at.index());
    commit.clear();
    put(new State(at, at.index(), before.tail()));
    return new Command.Answer.Opened(at.index());
  }

  /// Returns whether a batch has no effect.
  static boolean isVoid(Batch batch, State before) {
    BatchLog.Tail tail = before.tail();
    return batch.term() < before.fence()
        || batch.token().first().epoch() != tail.epoch()
        || batch.term() < tail.term()
        || (batch.term() == tail.term() && batch.sequence() <= tail.sequence());
  }

  private static State after(State before, Position at, Batch batch) {
    Token token = batch.token();
    long last = token.first().counter() + token.count() - 1;
    return new State(
        at,
        before.fence(),
        new BatchLog.Tail(
            token.first().epoch(),
            last,
            batch.term(),
            batch.sequence(),
            batch.nowMicros(),
            batch.note()));
  }

  private static State after(State before, Position at, long epoch) {
    BatchLog.Tail tail = before.tail();
    return new State(
        at,
        before.fence(),
        new BatchLog.Tail(epoch, tail.counter() + 1, 0, 0, tail.nowMicros(), tail.note()));
  }

  private static State after(State before, Position at) {
    return new State(at, before.fence(), before.tail());
  }

  /// Returns the state that a command will lead to.
  ///
  /// @param command null for none
  /// @param isPlaced whether it is a batch that takes effect
  State after(State before, Position at, @Nullable Command command, boolean isPlaced) {
    return switch (command) {
      case Command.Open(long fence) when fence == before.fence() ->
          new State(at, at.index(), before.tail());
      case Command.Write(Batch batch) when isPlaced || isEffective(batch, before) ->
          after(before, at, batch);
      case Command.Seal(long term, long epoch)
          when term >= before.fence() && epoch > before.tail().epoch() ->
          after(before, at, epoch);
      case null, default -> after(before, at);
    };
  }

  private boolean isEffective(Batch batch, State before) {
    if (isVoid(batch, before)) return false;
    try {
      streams.encode(batch, new Commit(), new Encoder(1024));
      return true;
    } catch (IllegalArgumentException impossible) {
      return false;
    }
  }

  private Command.Answer write(Position at, Batch batch, State before) {
    List<Streams.Place> placed = log == null ? null : log.placed(at);
    if (isVoid(batch, before)) {
      Check.that(placed == null, "the batch at %s is in its streams, and void", at);
      return skip(at, before, fenced(before));
    }
    if (placed != null) return show(after(before, at, batch), batch, placed);
    try {
      streams.encode(batch, commit.clear(), scratch);
    } catch (IllegalArgumentException impossible) {
      return skip(at, before, new Command.Answer.Refused(String.valueOf(impossible.getMessage())));
    }
    put(after(before, at, batch));
    return new Command.Answer.Done();
  }

  /// Makes a batch visible whose entries are in their streams.
  private Command.Answer show(State next, Batch batch, List<Streams.Place> placed) {
    if (!(extents instanceof AppliedExtents hiding)) throw new IllegalStateException("no log here");
    Streams.Place header = ReplicaLog.header(batch);
    hiding.hide(List.of(header));
    Streams.encodeHeader(batch, batch.entries(), commit.clear(), scratch);
    record(next);
    device.appendReserved(commit);
    var all = new ArrayList<>(placed);
    all.add(header);
    hiding.show(all);
    recorded = next.applied().index();
    become(next);
    return new Command.Answer.Done();
  }

  private Command.Answer seal(Position at, long epoch, State before) {
    BatchLog.Tail tail = before.tail();
    if (epoch <= tail.epoch()) return skip(at, before, new Command.Answer.Done());
    var token = new Token(new LogAddress(epoch, tail.counter() + 1), 1);
    Streams.encodeSeal(token, tail.nowMicros(), tail.note(), commit.clear(), scratch);
    put(after(before, at, epoch));
    return new Command.Answer.Done();
  }

  private static Command.Answer.Fenced fenced(State before) {
    return new Command.Answer.Fenced(before.tail().epoch());
  }

  private Command.Answer skip(Position at, State before, Command.Answer answer) {
    become(after(before, at));
    return answer;
  }

  /// Appends the commit with the record of a state, which becomes the present one.
  private void put(State next) {
    record(next);
    device.appendReserved(commit);
    recorded = next.applied().index();
    become(next);
  }

  private void record(State next) {
    scratch.clear().u8(version).varint(next.applied().index()).varint(next.applied().term());
    scratch.varint(next.fence());
    commit.write(RECORD, 0, 0, scratch.array(), 0, scratch.size());
  }

  private void tell(Command command) {
    switch (command) {
      case Command.Write(Batch batch) -> listener.committed(batch);
      case Command.Seal(_, long epoch) -> listener.sealed(epoch);
      case Command.Trim(_, StreamId stream, long oldest) -> listener.trimmed(stream, oldest);
      case Command.Nothing _, Command.Open _, Command.TrimLog _, Command.Change _ -> {
        // Nothing visible.
      }
    }
  }

  /// Makes everything applied durable. Returns its position: the log of the consensus need not keep
  /// anything up to there.
  ///
  /// @throws StorageException when this replica has failed, and must be opened again
  public Position sync() {
    lock.lock();
    try {
      ensureUsable();
      State now = state;
      if (recorded < now.applied().index()) {
        commit.clear();
        put(now);
      }
      device.sync();
      durable = now.applied();
      return durable;
    } catch (StorageException failure) {
      failed = failure;
      throw failure;
    } finally {
      lock.unlock();
    }
  }

  // ---- catching up

  /// Begins to supply another replica.
  ///
  /// @throws RuntimeException when this replica has failed
  public Supply supply() {
    lock.lock();
    try {
      ensureUsable();
      supplies++;
      State now = state;
      return new Supply(this, now.applied(), now.fence(), now.tail().counter());
    } finally {
      lock.unlock();
    }
  }

  void supplied() {
    lock.lock();
    try {
      if (--supplies > 0 || failed != null) return;
      for (StreamId stream : held) {
        streams.trimTo(stream, streams.oldest(stream)).add(stream, commit.clear());
        device.appendReserved(commit);
      }
      held.clear();
    } catch (StorageException failure) {
      failed = failure;
    } finally {
      lock.unlock();
    }
  }

  /// Returns whether nothing is missing up to [#applied], and nothing later is present. That is so
  /// except after a catch-up that broke off: then the replica must catch up again, or be
  /// [#completed].
  public boolean isWhole() {
    return whole;
  }

  // An earlier version does not say what was sent.
  private static long sent(byte @Nullable [] level) {
    if (level == null || level[0] == 0) return 0;
    return level.length == 1 ? Long.MAX_VALUE : new Decoder(level, 1, level.length).varint();
  }

  /// Returns the index up to which a catch-up that broke off may have brought results; 0 when there
  /// was none, or an earlier version does not say it.
  long sent() {
    lock.lock();
    try {
      return sentIndex == Long.MAX_VALUE ? 0 : sentIndex;
    } finally {
      lock.unlock();
    }
  }

  /// Begins a catch-up with another replica as of a position.
  void absorb(Position position) {
    lock.lock();
    try {
      ensureUsable();
      unplaceAll();
      sentIndex = Math.max(sentIndex, position.index());
      whole = false;
      scratch.clear().u8(1).varint(sentIndex);
      commit.clear().write(RECORD, 0, 1, scratch.array(), 0, scratch.size());
      device.appendReserved(commit);
      device.sync();
    } finally {
      lock.unlock();
    }
  }

  private void unplaceAll() {
    try {
      if (log != null) log.unplaceAll();
    } catch (StorageException failure) {
      failed = failure;
      throw failure;
    }
  }

  /// Writes what another replica has sent.
  void absorb(Commit part) {
    lock.lock();
    try {
      ensureUsable();
      device.appendReserved(part);
    } finally {
      lock.unlock();
    }
  }

  /// Ends a catch-up: everything up to a position is here.
  Position absorbed(Position position, long fence) {
    lock.lock();
    try {
      ensureUsable();
      State now = state;
      commit.clear().write(RECORD, 0, 1, new byte[] {0}, 0, 1);
      boolean further = now.applied().index() >= position.index();
      put(further ? now : new State(position, fence, streams.tail()));
      if (log != null) log.moved();
      device.sync();
      durable = state.applied();
      sentIndex = 0;
      whole = true;
      return durable;
    } finally {
      lock.unlock();
    }
  }

  /// Returns up to where the consensus knows of this replica's contents, if that may be less than
  /// [#applied]; null otherwise.
  public @Nullable Position known() {
    return known;
  }

  /// Durably sets the value of [#known], also for later openings.
  public void know(@Nullable Position position) {
    lock.lock();
    try {
      ensureUsable();
      if (Objects.equals(position, known)) return;
      scratch.clear();
      if (position != null) scratch.varint(position.index()).varint(position.term());
      commit.clear().write(RECORD, 0, 2, scratch.array(), 0, scratch.size());
      device.appendReserved(commit);
      device.sync();
      known = position;
    } catch (StorageException failure) {
      failed = failure;
      throw failure;
    } finally {
      lock.unlock();
    }
  }

  /// Completes this replica when it has applied everything that catch-ups that broke off have
  /// brought. The caller makes sure that no catch-up is in progress.
  ///
  /// @return whether this replica is complete
  public boolean complete() {
    lock.lock();
    try {
      if (!whole && sentIndex <= state.applied().index()) completed();
      return whole;
    } finally {
      lock.unlock();
    }
  }

  /// Records that everything that others have sent in a broken-off catch-up was applied meanwhile,
  /// so that this replica is complete.
  public void completed() {
    lock.lock();
    try {
      absorbed(state.applied(), state.fence());
    } finally {
      lock.unlock();
    }
  }

  /// Returns the streams, as far as they were applied or others have sent them.
  Streams all() {
    return streams;
  }

  /// Returns the extents of the streams.
  Extents extents() {
    return extents;
  }

  State state() {
    return state;
  }

  /// Returns the log of the consensus; null when it is in files beside the device.
  public @Nullable ReplicaLog log() {
    return log;
  }

  private void ensureUsable() {
    Throwable cause = failed;
    if (cause == null) return;
    throw new IllegalStateException("the replica has failed; open it again: " + cause, cause);
  }

  // ---- contents

  /// Returns the last applied position.
  public Position applied() {
    return state.applied();
  }

  /// Returns the position up to which [#sync] has made it durable since this replica was opened.
  public Position durable() {
    return durable;
  }

  /// Returns the end of the log, as far as it was applied.
  public BatchLog.Tail tail() {
    return state.tail();
  }

  /// Returns the streams, as far as they were applied: for reading, and for checkpoints, which each
  /// replica makes by itself.
  public Streams streams() {
    return shown;
  }

  /// Returns the device, for objects beside the streams: for reading only.
  public Device device() {
    return device;
  }

  /// Returns the term of the present owner, as far as it was applied; 0 when there was none.
  long fence() {
    return state.fence();
  }

  /// Returns a command that changes nothing. Its application proves that its proposer has led
  /// meanwhile.
  public static byte[] nothing() {
    return new Command.Nothing().toBytes();
  }

  /// Closes the device.
  @Override
  public void close() {
    device.close();
  }
}
