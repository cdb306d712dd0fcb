package stoa.store;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.Diverged;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.storage.RunningCalls;
import stoa.store.records.Records;
import stoa.store.records.Refusal;
import stoa.store.replicas.Divergence;

/// The keys that take no puts and answer no questions, since their replicas have diverged, or a put
/// of theirs ends the process that executes it. It is in the log, in a stream of its own, and so
/// the same at every replica and after every opening. Thread-safe.
///
/// It ends with the generation of the key, or when the state of who leads is accepted.
///
/// ```
/// an entry:  1 u8, the evidence                                          quarantined
///            2 u8, space text, name sized, address varint, the state     accepted
/// ```
final class Quarantine {
  /*
   * What is accepted is the state at the last put, as a checkpoint: every replica keeps it as its own
   * at that address, and whoever loads the key goes on from there. A checkpoint is derived data and may
   * be lost in a crash, this entry is not: who opens the store looks that the last one of each key is
   * there.
   */
  static final Key KEY = Key.of("stoa", "quarantine");

  /// Beyond this, keys that differ are told of and go on: there is something wrong with all.
  static final int KEYS_MAX = 10_000;

  /// How often a call may end the process that executes it.
  static final int FAILURES_MAX = 2;

  private static final int QUARANTINED = 1;
  private static final int ACCEPTED = 2;
  private static final Logger LOG = LoggerFactory.getLogger(Quarantine.class);

  private final Engine engine;
  private final ConcurrentHashMap<StreamId, Divergence> keys = new ConcurrentHashMap<>();

  /// Up to which address what was told of a key is void, since a state there was accepted.
  private final ConcurrentHashMap<StreamId, Long> accepted = new ConcurrentHashMap<>();

  /// Held while what was found here is logged, and while a state is accepted: in the log, that
  /// comes last.
  private final ReentrantLock deciding = new ReentrantLock();

  Quarantine(Engine engine) {
    this.engine = engine;
  }

  /// Learns what the log says so far.
  void load() {
    Streams streams = engine.streams();
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

  /// The generation of a key as far as the log goes, 0 when it is absent.
  private long generation(StreamId stream) {
    Streams.At mark = engine.streams().lastMark(stream, Long.MAX_VALUE);
    return mark == null || !Records.mark(mark.data()).alive() ? 0 : mark.address();
  }

  /// An entry is in the log. Answers which key it is about.
  StreamId apply(byte[] payload) {
    var in = new Decoder(payload);
    int kind = in.u8();
    if (kind == QUARANTINED) {
      Divergence evidence = Divergence.of(in);
      add(evidence);
      return evidence.stream();
    }
    Check.that(kind == ACCEPTED, "an entry of the quarantine is of the kind %s", kind);
    StreamId stream = new Key(in.text(), in.sized(), "").stream();
    long address = in.varint();
    accepted.put(stream, address); // first: what is executed now keeps no checkpoint there any more
    engine.checkpoints().keepAccepted(stream, address, in.raw(in.remaining()));
    keys.remove(stream);
    return stream;
  }

  /// Whether what is said of a key at an address is void, since a state there or behind it was
  /// accepted.
  boolean isAccepted(StreamId stream, long address) {
    Long known = accepted.get(stream);
    return known != null && address <= known;
  }

  private void add(Divergence evidence) {
    LOG.error("{}", evidence.refusal().getMessage());
    keys.put(evidence.stream(), evidence);
  }

  /// Whether nothing is to be said any more of what was seen of a key: it is in quarantine, or what
  /// was seen is void.
  boolean knows(Divergence evidence) {
    StreamId stream = evidence.stream();
    Divergence known = keys.get(stream);
    boolean quarantined = known != null && known.generation() == evidence.generation();
    return quarantined || isAccepted(stream, evidence.to());
  }

  /// Why a key is refused in a generation; null when it is not.
  @Nullable Diverged refusal(Key key, long generation) {
    boolean mayBeFatal = engine.runners().hasFailures();
    if (keys.isEmpty() && !mayBeFatal) return null;
    Divergence evidence = keys.get(key.stream());
    if (evidence == null && mayBeFatal && generation > 0) evidence = fatal(key, generation);
    return evidence == null || evidence.generation() != generation ? null : evidence.refusal();
  }

  // ---- calls that end the process

  /// Refuses to execute a logged put again that has ended the process before, and puts its key into
  /// quarantine. A replica that follows need not execute it even once more.
  ///
  /// @param generation of the key
  void refuseFatal(Execution execution, Records.Put put, long generation) {
    long failures = engine.runners().failures(execution);
    if (failures < (engine.health().follows() ? 1 : FAILURES_MAX)) return;
    Key key = execution.key();
    Divergence evidence = fatal(key, generation, execution.address(), put);
    if (!engine.health().follows()) enter(evidence);
    throw evidence.refusal();
  }

  private Divergence fatal(Key key, long generation, long address, Records.Put put) {
    boolean calls = put.value().length > 0;
    String method = calls ? engine.spaces().factory(key.space()).method(key, put.value()) : "";
    return Divergence.fatal(key, generation, address, method);
  }

  /// As [#refuseFatal], before anything is logged for the key, or executed: its state cannot be
  /// made without such a put. Null when there is none.
  private @Nullable Divergence fatal(Key key, long generation) {
    for (RunningCalls.Failure failure : engine.runners().failures(key)) {
      long address = failure.number();
      if (address < Math.max(1, generation) || failure.times() < FAILURES_MAX) continue;
      StoredEntry entry = engine.streams().read(key.stream(), address);
      if (entry == null || entry.kind() != Records.PUT) continue;
      if (engine.streams().checkpointAt(key.stream(), Long.MAX_VALUE) >= address) continue;
      if (isTakenBack(key.stream(), address)) {
        engine.runners().forget(key);
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
    Streams streams = engine.streams();
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

  /// Puts a key into quarantine here at once, and durably for all replicas soon.
  private void enter(Divergence evidence) {
    if (keys.putIfAbsent(evidence.stream(), evidence) != null) return;
    LOG.error("{}", evidence.refusal().getMessage());
    engine
        .threads()
        .answer(() -> {
          deciding.lock();
          try {
            if (evidence.equals(keys.get(evidence.stream()))) log(evidence);
          } catch (RuntimeException later) {
            LOG.warn("{} is in quarantine here alone: {}", evidence.object(), later.getMessage());
          } finally {
            deciding.unlock();
          }
        });
  }

  private void log(Divergence evidence) {
    var out = new Encoder(512).u8(QUARANTINED).raw(evidence.toBytes());
    var _ = engine.leader().append(KEY, out.toBytes());
  }

  /// The last version of a key that can be made, when a put behind it ends the process; -1 when
  /// there is no such put.
  long lastMade(Key key) {
    Divergence evidence = keys.get(key.stream());
    if (evidence == null || !evidence.isFatal()) return -1;
    return evidence.generation() == generation(key.stream()) ? evidence.first() - 1 : -1;
  }

  /// Why a question is not asked again, during which the process has ended; null when it may be.
  @Nullable RuntimeException fatalQuestion(Execution execution) {
    if (engine.runners().failures(execution) < FAILURES_MAX) return null;
    Key key = execution.key();
    return new Diverged(
        "the process ended twice while it executed an accessor of "
            + key
            + ", so that this one is not executed again here; others are. Mend the class, and delete the"
            + " object or start the server with the mended class and accept "
            + key);
  }

  /// Takes back a put that ends the process, so that every replica goes on without it.
  private void takeBack(Key key, Divergence evidence) {
    var why =
        new CallFailed("an operator accepted " + key + " without version " + evidence.first());
    var verdict = new Records.Verdict(evidence.first(), Refusal.of(why));
    Resident resident = engine.residents().pin(key);
    try {
      Request note = engine.leader().note(resident, Records.VERDICT, Records.verdict(verdict));
      engine.leader().callWriter();
      engine.leader().await(note).check();
    } finally {
      resident.unpin();
    }
    engine.runners().forget(key);
  }

  /// The evidence against the keys that are in quarantine.
  List<Divergence> all() {
    return List.copyOf(keys.values());
  }

  /// Puts a key into quarantine, durably; answers whether it is there then, which it is not when
  /// the generation is over, or a later state was accepted.
  boolean put(Divergence evidence) {
    StreamId stream = evidence.stream();
    if (generation(stream) != evidence.generation()) return false;
    if (isAccepted(stream, evidence.to())) return false;
    if (keys.containsKey(stream)) return true;
    if (keys.size() >= KEYS_MAX) {
      LOG.error("more than {} objects differ; not quarantined: {}", KEYS_MAX, evidence.object());
      return false;
    }
    // First: what is accepted later is the state behind the last put that came through.
    if (keys.putIfAbsent(stream, evidence) != null) return true;
    boolean logged = false;
    try {
      log(evidence);
      logged = true;
    } finally {
      if (!logged) keys.remove(stream, evidence);
    }
    LOG.error("{}", evidence.refusal().getMessage());
    return true;
  }

  /// Ends the quarantine of a key with the state that this replica has; answers false when it was
  /// in none.
  boolean accept(Key key) {
    deciding.lock();
    try {
      return acceptNow(key);
    } finally {
      deciding.unlock();
    }
  }

  private boolean acceptNow(Key key) {
    Divergence evidence = keys.get(key.stream());
    if (evidence == null) return false;
    if (evidence.isFatal()) takeBack(key, evidence);
    Checkpoint now = engine.questions().state(() -> engine.residents().pin(key));
    byte[] state = now.state();
    if (state != null && now.generation() == evidence.generation()) {
      var out = new Encoder(state.length + 128).u8(ACCEPTED).text(key.space()).sized(key.name());
      out.varint(now.position()).raw(state);
      var _ = engine.leader().append(KEY, out.toBytes());
      engine.checkpoints().keepAccepted(key.stream(), now.position(), state);
      accepted.put(key.stream(), now.position());
      Resident resident = engine.residents().pin(key);
      try {
        resident.stale();
      } finally {
        resident.unpin();
      }
    }
    keys.remove(key.stream(), evidence);
    return true;
  }
}
