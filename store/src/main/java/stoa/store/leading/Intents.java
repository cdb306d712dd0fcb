package stoa.store.leading;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.base.Clock;
import stoa.base.Footprint;
import stoa.base.StreamId;

/// The intents of transactions that have lost often. While an intent stands, the leader holds back
/// the changes with which the transaction would conflict. Thread-safe.
///
/// An intent stands for a bounded time, and ends with the attempt of the transaction that declared
/// it. It is known to the leader alone: nothing of it is logged, and a new leader has none. It
/// changes when others are logged, never what a commit is checked against.
public final class Intents {
  /*
   * Invariants:
   * (1) Standing intents have no key in common.
   * (2) An intent gets all its keys at once, in the order of the declarations: it holds back nothing
   *     while it waits, so no intents wait for each other.
   * (3) When an intent ends that has held something back, the leader logs that before another intent
   *     on these keys stands.
   */

  /// The longest time for which an intent stands, in microseconds.
  public static final long MICROS_MAX = 5_000_000;

  // The most intents, those that wait included.
  private static final int INTENTS_MAX = 64;

  // The most keys of an intent.
  private static final int KEYS_MAX = 1_024;

  // The most callers whose calls an intent has come to hold back.
  private static final int CALLERS_MAX = 64;

  /// The stages of an intent.
  private enum Stage {
    WAITING,
    STANDING,
    OVER
  }

  /// The parts of a key that a transaction has used.
  private static final class UsedParts {
    private final Set<Integer> firm = new HashSet<>(2);
    private final Set<Integer> commuting = new HashSet<>(2);
    private boolean all;
    private boolean commutesWithAll;
    private int code = -1;

    private UsedParts(Set<Footprint> used) {
      all = used.isEmpty();
      used.forEach(this::add);
    }

    private void add(Footprint part) {
      all |= part.isAll() || (code >= 0 && code != part.code());
      code = part.code();
      if (!part.keyed()) commutesWithAll = true;
      else if (part.commuting()) commuting.add(part.part());
      else firm.add(part.part());
    }

    /// Returns whether a change would make a transaction that used the parts conflict.
    private boolean conflicts(Footprint change) {
      if (all || change.isAll() || change.code() != code) return true;
      if (change.commuting()) {
        return change.keyed() ? firm.contains(change.part()) : !firm.isEmpty();
      }
      return commutesWithAll || firm.contains(change.part()) || commuting.contains(change.part());
    }
  }

  /// An intent.
  public final class Intent {
    private final long id;
    private final Map<StreamId, UsedParts> keys;
    private final long micros;
    private final Runnable settled;

    // Guarded by the intents.
    private final Set<StreamId> callers;
    private Stage stage = Stage.WAITING;
    private long end;
    private boolean heldBack;

    private Intent(
        long id,
        Map<StreamId, UsedParts> keys,
        Set<StreamId> callers,
        long micros,
        Runnable settled) {
      this.id = id;
      this.keys = keys;
      this.callers = callers;
      this.micros = micros;
      this.settled = settled;
    }

    /// Returns the number by which [Intents#find] finds it.
    public long id() {
      return id;
    }

    /// Returns the streams of its keys.
    public Set<StreamId> streams() {
      return keys.keySet();
    }

    /// Returns whether it waits for others.
    public boolean isWaiting() {
      synchronized (Intents.this) {
        return stage == Stage.WAITING;
      }
    }

    /// Returns whether it stands.
    public boolean isStanding() {
      synchronized (Intents.this) {
        return stage == Stage.STANDING;
      }
    }

    /// Returns the keys whose calls have changed its keys while it stood.
    public Set<StreamId> callers() {
      synchronized (Intents.this) {
        return Set.copyOf(callers);
      }
    }

    private boolean shares(Intent other) {
      Set<StreamId> few = keys.size() < other.keys.size() ? keys.keySet() : other.keys.keySet();
      Set<StreamId> many = keys.size() < other.keys.size() ? other.keys.keySet() : keys.keySet();
      for (StreamId stream : few) if (many.contains(stream)) return true;
      return false;
    }

    private boolean conflicts(StreamId stream, Footprint change) {
      UsedParts parts = keys.get(stream);
      return parts != null && parts.conflicts(change);
    }
  }

  private final Clock clock;

  // Guarded by this.
  private final List<Intent> waiting = new ArrayList<>();
  private final List<Intent> standing = new ArrayList<>();

  // The ended ones that have held back what the leader has not logged yet.
  private final List<Intent> passing = new ArrayList<>();

  // Written by those that guard this.
  private volatile boolean any;
  private volatile boolean anyStands;
  private long last;

  /// @param clock tells when intents are over
  /// @param first a number that no other leader of the log has; the intents are numbered from it
  public Intents(Clock clock, long first) {
    this.clock = clock;
    last = first << 32;
  }

  /// Declares an intent; it stands at once when no earlier one is in its way.
  ///
  /// @param used the parts of the keys that the transaction has used; none stands for all of a key
  /// @param callers the keys whose calls have changed its keys before
  /// @param micros how long it may stand
  /// @param waitMicros how long it may wait until it stands
  /// @param settled called once when it stands, or waits no longer; by any thread, and it must not
  ///   wait
  /// @return null when it cannot stand, because there are too many of them, or too many keys
  public @Nullable Intent declare(
      Map<StreamId, Set<Footprint>> used,
      Set<StreamId> callers,
      long micros,
      long waitMicros,
      Runnable settled) {
    if (used.isEmpty() || used.size() > KEYS_MAX) return null;
    var keys = new HashMap<StreamId, UsedParts>();
    used.forEach((stream, parts) -> keys.put(stream, new UsedParts(parts)));
    Intent declared;
    synchronized (this) {
      if (waiting.size() + standing.size() >= INTENTS_MAX) return null;
      long bounded = Math.clamp(micros, 1, MICROS_MAX);
      declared = new Intent(++last, Map.copyOf(keys), new HashSet<>(callers), bounded, settled);
      declared.end = clock.nowMicros() + Math.clamp(waitMicros, 0, 2 * MICROS_MAX);
      waiting.add(declared);
      any = true;
    }
    standUp();
    return declared;
  }

  /// Returns the intent of a number, null when it neither waits nor stands.
  public synchronized @Nullable Intent find(long id) {
    for (Intent intent : standing) if (intent.id == id) return intent;
    for (Intent intent : waiting) if (intent.id == id) return intent;
    return null;
  }

  /// Ends an intent, unless it is over; returns whether it has held back something, which the
  /// leader must look at again.
  public boolean end(Intent intent) {
    boolean heldBack = ended(intent);
    if (!heldBack) standUp();
    return heldBack;
  }

  private synchronized boolean ended(Intent intent) {
    if (intent.stage == Stage.OVER) return false;
    boolean stood = intent.stage == Stage.STANDING;
    intent.stage = Stage.OVER;
    waiting.remove(intent);
    standing.remove(intent);
    if (stood && intent.heldBack) passing.add(intent);
    note();
    return stood && intent.heldBack;
  }

  /// Ends the intents whose time is over; returns whether one has held back something.
  public boolean tick() {
    if (!any) return false;
    long now = clock.nowMicros();
    boolean heldBack = false;
    var given = new ArrayList<Intent>();
    synchronized (this) {
      for (Intent intent : List.copyOf(standing)) {
        if (intent.end <= now) heldBack |= ended(intent);
      }
      for (Intent intent : List.copyOf(waiting)) {
        if (intent.end > now) continue;
        given.add(intent);
        heldBack |= ended(intent);
      }
    }
    standUp();
    for (Intent intent : given) intent.settled.run();
    return heldBack;
  }

  /// Notes that the leader has logged what ended intents have held back.
  public void passed() {
    if (!any) return;
    synchronized (this) {
      passing.clear();
      note();
    }
    standUp();
  }

  /// Lets the waiting intents stand that may.
  private void standUp() {
    if (!any) return;
    var stood = new ArrayList<Intent>();
    synchronized (this) {
      for (int i = 0; i < waiting.size(); i++) {
        Intent next = waiting.get(i);
        boolean isFree =
            standing.stream().noneMatch(next::shares)
                && passing.stream().noneMatch(next::shares)
                && waiting.subList(0, i).stream().noneMatch(next::shares);
        if (!isFree) continue;
        next.stage = Stage.STANDING;
        next.end = clock.nowMicros() + next.micros;
        stood.add(next);
      }
      waiting.removeAll(stood);
      standing.addAll(stood);
      note();
    }
    for (Intent intent : stood) intent.settled.run();
  }

  private void note() {
    anyStands = !standing.isEmpty();
    any = anyStands || !waiting.isEmpty() || !passing.isEmpty();
  }

  /// Returns whether no intent stands.
  public boolean isEmpty() {
    return !anyStands;
  }

  /// Returns whether a change must wait for the intent of another transaction.
  ///
  /// @param change the part of the key that it changes
  public boolean holdsBack(StreamId stream, Footprint change) {
    if (!anyStands) return false;
    synchronized (this) {
      for (Intent intent : standing) {
        if (!intent.conflicts(stream, change) && !intent.callers.contains(stream)) continue;
        intent.heldBack = true;
        return true;
      }
      return false;
    }
  }

  /// Notes that the handler of a key makes a change. It must not wait, since the transaction may
  /// wait for the handler. The next calls of the handler's key wait instead.
  public void passes(StreamId stream, Footprint change, StreamId caller) {
    if (!anyStands) return;
    synchronized (this) {
      for (Intent intent : standing) {
        boolean disturbs = intent.conflicts(stream, change) || intent.callers.contains(stream);
        if (disturbs && intent.callers.size() < CALLERS_MAX) intent.callers.add(caller);
      }
    }
  }
}
