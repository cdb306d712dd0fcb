package stoa.store;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Diverged;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.log.Streams;

/// The keys that take no puts and answer no questions, since their replicas have diverged. It is in
/// the log, in a stream of its own, and so the same at every replica and after every opening.
/// Thread-safe.
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

  private static final int QUARANTINED = 1;
  private static final int ACCEPTED = 2;
  private static final Logger LOG = LoggerFactory.getLogger(Quarantine.class);

  private final Store store;
  private final ConcurrentHashMap<StreamId, Divergence> keys = new ConcurrentHashMap<>();

  /// Up to which address what was told of a key is void, since a state there was accepted.
  private final ConcurrentHashMap<StreamId, Long> accepted = new ConcurrentHashMap<>();

  Quarantine(Store store) {
    this.store = store;
  }

  /// Learns what the log says so far.
  void load() {
    Streams streams = store.streams();
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
    Streams.At mark = store.streams().lastMark(stream, Long.MAX_VALUE);
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
    store.keepAccepted(stream, address, in.raw(in.remaining()));
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
    if (keys.isEmpty()) return null;
    Divergence evidence = keys.get(key.stream());
    return evidence == null || evidence.generation() != generation ? null : evidence.refusal();
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
      var out = new Encoder(512).u8(QUARANTINED).raw(evidence.toBytes());
      var _ = store.append(KEY, out.toBytes());
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
    Divergence evidence = keys.get(key.stream());
    if (evidence == null) return false;
    Store.Checkpoint now = store.state(store.target(key));
    byte[] state = now.state();
    if (state != null && now.generation() == evidence.generation()) {
      var out = new Encoder(state.length + 128).u8(ACCEPTED).text(key.space()).sized(key.name());
      out.varint(now.position()).raw(state);
      var _ = store.append(KEY, out.toBytes());
      store.keepAccepted(key.stream(), now.position(), state);
      accepted.put(key.stream(), now.position());
      Resident resident = store.residents().pin(key);
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
