package stoa.store.divergence;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Diverged;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.storage.RunningCalls;
import stoa.store.leading.Health;
import stoa.store.records.Records;
import stoa.store.replicas.Divergence;
import stoa.store.running.Bans;
import stoa.store.running.Execution;
import stoa.store.running.Runners;
import stoa.store.running.SpaceRegistry;

/// The keys that take no puts and answer no questions, since their replicas have diverged, or one
/// of their puts ends the process that executes it. The log has the quarantine in a stream of its
/// own, so it is the same on every replica and after every opening. Thread-safe.
///
/// The quarantine of a key ends with its generation, or when an operator accepts the leader's
/// state.
///
/// ```
/// an entry:  1 u8, the evidence                                          quarantined
///            2 u8, space text, name sized, address varint, the state     accepted
/// ```
public final class Quarantine implements Bans {
  /*
   * An operator accepts the state at the last put, as a checkpoint. Every replica saves it as its
   * own checkpoint at that address, and loads the key from there. A crash may lose a checkpoint,
   * which is derived data, but not this entry: the process that opens the store makes sure that
   * each key has the checkpoint of its last entry here.
   */
  public static final Key KEY = Key.of("stoa", "quarantine");

  /// How many times a call may end the process that executes it.
  static final int FAILURES_MAX = 2;

  static final int QUARANTINED = 1;
  static final int ACCEPTED = 2;
  private static final Logger LOG = LoggerFactory.getLogger(Quarantine.class);

  private final Streams streams;
  private final Runners runners;
  private final SpaceRegistry spaces;
  private final Health health;
  private final AcceptedStates accepted;
  private final ConcurrentHashMap<StreamId, Divergence> keys = new ConcurrentHashMap<>();
  private @Nullable Consumer<Divergence> found;

  public Quarantine(
      Streams streams,
      Runners runners,
      SpaceRegistry spaces,
      Health health,
      AcceptedStates accepted) {
    this.streams = streams;
    this.runners = runners;
    this.spaces = spaces;
    this.health = health;
    this.accepted = accepted;
  }

  /// Sets the listener that logs the divergences found here. Called once, before any is found.
  void whenFound(Consumer<Divergence> listener) {
    found = listener;
  }

  /// Loads the entries of the log.
  public void load() {
    long last = streams.last(KEY.stream());
    if (last == 0) return;
    streams.scan(
        KEY.stream(),
        1,
        last,
        entry -> {
          apply(entry.payload());
          return true;
        });
    keys.values().removeIf(evidence -> evidence.generation() != generation(evidence.stream()));
  }

  /// Returns the generation of a key at the end of the log, 0 when it is absent.
  long generation(StreamId stream) {
    Streams.At mark = streams.lastMark(stream, Long.MAX_VALUE);
    return mark == null || !Records.mark(mark.data()).alive() ? 0 : mark.address();
  }

  /// Applies an entry of the log; returns the stream of its key.
  StreamId apply(byte[] payload) {
    var in = new Decoder(payload);
    int kind = in.u8();
    if (kind == QUARANTINED) {
      Divergence evidence = Divergence.of(in);
      log(evidence);
      return evidence.stream();
    }
    Check.that(kind == ACCEPTED, "an entry of the quarantine is of the kind %s", kind);
    StreamId stream = new Key(in.text(), in.sized(), "").stream();
    long address = in.varint();
    accepted.add(stream, address); // first: no run saves a checkpoint there now
    accepted.keep(stream, address, in.raw(in.remaining()));
    keys.remove(stream);
    return stream;
  }

  /// Changes the state of a key that an operator has accepted.
  @FunctionalInterface
  public interface AcceptedState {
    /// Returns the new form of a state.
    byte[] changed(Key key, byte[] state);
  }

  /// Returns an entry with an accepted state in another form.
  public static byte[] with(byte[] payload, AcceptedState state) {
    var in = new Decoder(payload);
    if (in.u8() != ACCEPTED) return payload;
    String space = in.text();
    byte[] name = in.sized();
    long address = in.varint();
    byte[] changed = state.changed(new Key(space, name, space), in.raw(in.remaining()));
    var out = new Encoder(changed.length + name.length + space.length() + 32).u8(ACCEPTED);
    return out.text(space).sized(name).varint(address).raw(changed).toBytes();
  }

  /// Returns whether a report about a key at an address is void, since an operator accepted a state
  /// there or behind it.
  boolean isAccepted(StreamId stream, long address) {
    return accepted.has(stream, address);
  }

  private void log(Divergence evidence) {
    LOG.error("{}", evidence.refusal().getMessage());
    keys.put(evidence.stream(), evidence);
  }

  /// Returns whether a report about a key is obsolete: the key is in quarantine, or the report is
  /// void.
  boolean knows(Divergence evidence) {
    StreamId stream = evidence.stream();
    Divergence known = keys.get(stream);
    boolean quarantined = known != null && known.generation() == evidence.generation();
    return quarantined || isAccepted(stream, evidence.to());
  }

  /// Returns the error for calls on a key in a generation; null when the key takes calls.
  @Override
  public @Nullable Diverged refusal(Key key, long generation) {
    boolean mayBeFatal = !health.follows() && runners.hasFailures();
    if (keys.isEmpty() && !mayBeFatal) return null;
    Divergence evidence = keys.get(key.stream());
    if (evidence == null && mayBeFatal && generation > 0) evidence = fatal(key, generation);
    return evidence == null || evidence.generation() != generation ? null : evidence.refusal();
  }

  // ---- calls that end the process

  /// Throws when the process has ended twice while it executed a logged put. A store that leads
  /// also puts the key into quarantine; a replica that follows cannot log that.
  ///
  /// @param generation the generation of the key
  @Override
  public void refuseFatal(Execution execution, Records.Put put, long generation) {
    if (runners.failures(execution) < FAILURES_MAX) return;
    Key key = execution.key();
    Divergence evidence = fatal(key, generation, execution.address(), put);
    if (health.follows()) throw evidence.refusalToFollow();
    enter(evidence);
    throw evidence.refusal();
  }

  private Divergence fatal(Key key, long generation, long address, Records.Put put) {
    boolean calls = put.value().length > 0;
    String method = calls ? spaces.factory(key.space()).method(key, put.value()) : "";
    return Divergence.fatal(key, generation, address, method);
  }

  /// Puts a key into quarantine, and returns the evidence, when its state cannot be made without a
  /// put that ended the process. This happens before the store logs or executes anything for the
  /// key. Returns null when there is no such put.
  private @Nullable Divergence fatal(Key key, long generation) {
    for (RunningCalls.Failure failure : runners.failures(key)) {
      long address = failure.number();
      if (address < Math.max(1, generation) || failure.times() < FAILURES_MAX) continue;
      StoredEntry entry = streams.read(key.stream(), address);
      if (entry == null || entry.kind() != Records.PUT) continue;
      if (streams.checkpointAt(key.stream(), Long.MAX_VALUE) >= address) continue;
      if (isTakenBack(key.stream(), address)) {
        runners.forget(key);
        return null;
      }
      Divergence evidence = fatal(key, generation, address, Records.put(entry.payload()));
      enter(evidence);
      return evidence;
    }
    return null;
  }

  private boolean isTakenBack(StreamId stream, long address) {
    var found = new boolean[1];
    streams.scan(
        stream,
        address + 1,
        streams.last(stream),
        entry -> {
          found[0] |=
              entry.kind() == Records.VERDICT && Records.verdict(entry.payload()).call() == address;
          return !found[0];
        });
    return found[0];
  }

  /// Puts a key into quarantine here at once, and reports it to the log.
  private void enter(Divergence evidence) {
    if (!add(evidence)) return;
    LOG.error("{}", evidence.refusal().getMessage());
    found().accept(evidence);
  }

  private Consumer<Divergence> found() {
    return Objects.requireNonNull(found, "whom to tell");
  }

  // ---- for QuarantineLog

  /// Adds a key, unless it is in quarantine; returns whether it added the key.
  boolean add(Divergence evidence) {
    return keys.putIfAbsent(evidence.stream(), evidence) == null;
  }

  /// Ends the quarantine of a key, if this evidence caused it.
  void remove(Divergence evidence) {
    keys.remove(evidence.stream(), evidence);
  }

  /// Returns the evidence against a key; null when there is none.
  @Nullable Divergence evidence(StreamId stream) {
    return keys.get(stream);
  }

  /// Returns the last version of a key that can be made when the put behind it ends the process; -1
  /// when there is no such put.
  public long lastMade(Key key) {
    Divergence evidence = keys.get(key.stream());
    if (evidence == null || !evidence.isFatal()) return -1;
    return evidence.generation() == generation(key.stream()) ? evidence.first() - 1 : -1;
  }

  /// Returns the error for a question during which the process has ended before; null when it may
  /// run.
  @Override
  public @Nullable RuntimeException fatalQuestion(Execution execution) {
    if (runners.failures(execution) < FAILURES_MAX) return null;
    Key key = execution.key();
    return new Diverged(
        "the process ended twice while it executed an accessor of "
            + key
            + ", so that this one is not executed again here; others are. Mend the class, and"
            + " delete the object or start the server with the mended class and accept "
            + key);
  }

  /// Returns the evidence against all keys in quarantine.
  public List<Divergence> all() {
    return List.copyOf(keys.values());
  }
}
