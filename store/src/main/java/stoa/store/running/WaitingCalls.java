package stoa.store.running;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.DeadlineExceeded;
import stoa.LimitExceeded;
import stoa.base.Check;
import stoa.base.Key;
import stoa.store.calls.Pace;
import stoa.store.calls.Terms;
import stoa.store.calls.Unblocked;
import stoa.store.records.KeyRefusals;
import stoa.store.records.Records;
import stoa.store.threads.Threads;

/// The puts that wait for a change of their keys, because their handlers found a condition false.
/// They hold no thread. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class WaitingCalls {
  /*
   * A put that waits is in the log once, as an entry that changed nothing. After each change of its
   * key, the key's handler is asked which of the waiting puts, in their order, would go on first
   * (Unblocked). The store logs that put again, with the same origin: an attempt. Its execution
   * decides. When it waits again, because another put came between, it keeps its place.
   *
   * The first put in a line also gets an attempt without a question, in the batch of a change and
   * right behind it: often it is what the put waits for. So a hand-over takes one batch, not two.
   * After such a guess was wrong, there is none until a put has gone on.
   * A put that passes those in front of it is logged together with the front one, if that goes on
   * after it.
   *
   * Invariants:
   * (1) A key has one search at a time. A change during a search makes it begin again.
   * (2) A waiting put has one attempt at a time. Nothing but the attempt settles the put meanwhile.
   * (3) The runner of a key adds the puts that wait and announces the changes, in the order of the
   *     stream. So each change behind a put's last run begins a search that sees the put.
   * (4) A put is found only when no put in front of it could have gone on before it. So a question
   *     that does not begin at the front counts only while the key has not changed.
   */

  /// How many puts may wait on one key.
  public static final int OF_KEY_MAX = 1_000;

  /// How many puts may wait in a store.
  public static final int ALL_MAX = 10_000;

  // For how many ticks the puts of a key wait whose conditions depend on the time, until the key is
  // asked again.
  private static final int TIMED_TICKS = 500 / Threads.TICK_MILLIS;

  // How many puts one question tries. A question whose search was overtaken by a change is followed
  // by one for twice as many, so that the search of a key that always changes reaches all its puts.
  private static final int TRIED_MIN = 64;

  // How many brief puts a brief question tries.
  private static final int BRIEF_TRIED_MAX = 4;

  private final Map<Resident, Line> lines = new ConcurrentHashMap<>();
  private final AtomicInteger all = new AtomicInteger();
  private final Journal journal;
  private final SpaceRegistry spaces;
  private final TimeLimits limits;
  private final Bans bans;
  private final Threads threads;
  private volatile @Nullable RuntimeException ended;

  public WaitingCalls(
      Journal journal, SpaceRegistry spaces, TimeLimits limits, Bans bans, Threads threads) {
    this.threads = threads;
    this.journal = journal;
    this.spaces = spaces;
    this.limits = limits;
    this.bans = bans;
  }

  /// A put that waits.
  private static final class Waiter {
    private final PutRequest put;
    private boolean attempted;

    // Whether it could not go on at once.
    private boolean waited;

    private Waiter(PutRequest put) {
      this.put = put;
    }
  }

  /// The puts that wait on one key, in the order of their arrival. Guarded by itself.
  ///
  /// Puts that waited at an earlier leader come in the order of their first entries in its log, in
  /// front of those that are new here.
  private static final class Line {
    private final Resident resident;
    private final List<Waiter> waiters = new ArrayList<>();
    private boolean searching;
    private boolean changed;
    private boolean isTimed;
    private boolean guesses = true;
    private int tried = TRIED_MIN;

    private Line(Resident resident) {
      this.resident = resident;
    }

    private void add(PutRequest put) {
      int place = waiters.size();
      while (place > 0 && waiters.get(place - 1).put.arrived > put.arrived) place--;
      waiters.add(place, new Waiter(put));
    }
  }

  // ---- where puts begin to wait

  /// Makes a put wait that its handler has just run. The runner of its key calls this.
  ///
  /// @param isTimed whether its condition depends on the time
  void begin(PutRequest put, boolean isTimed) {
    put.park();
    put.resident.callsWait = true;
    join(put, false, isTimed);
  }

  /// Makes a new put wait, without a run of its own, behind those that wait on its key already, or
  /// where calls usually wait; returns false otherwise, and when the put calls a method that does
  /// not wait.
  public boolean joins(PutRequest put) {
    if (!put.resident.callsWait && !lines.containsKey(put.resident)) return false;
    if (!spaces.factory(put.resident.key.space()).awaits(put.resident.key, put.value)) return false;
    put.park();
    join(put, true, false);
    return true;
  }

  /// Logs that a client's call has arrived, so that the next leader knows its place.
  private void noteArrival(PutRequest put) {
    Records.Origin origin = put.origin;
    if (origin == null || put.arrived != Terms.NEW) return;
    journal.noteSoon(put.resident, Records.ARRIVED, Records.arrived(origin));
  }

  private void join(PutRequest put, boolean isNew, boolean isTimed) {
    RuntimeException refusal = ended;
    if (refusal == null && all.incrementAndGet() > ALL_MAX) {
      all.decrementAndGet();
      refusal = tooMany(put, "in this store", ALL_MAX);
    }
    if (refusal == null) {
      var full = new boolean[1];
      lines.compute(
          put.resident,
          (resident, known) -> {
            Line line = known == null ? new Line(resident) : known;
            synchronized (line) {
              full[0] = line.waiters.size() >= OF_KEY_MAX;
              if (!full[0]) {
                if (isNew) noteArrival(put);
                line.add(put);
              }
              line.isTimed |= isTimed;
            }
            return line;
          });
      if (full[0]) {
        all.decrementAndGet();
        refusal = tooMany(put, "on it", OF_KEY_MAX);
      }
    }
    if (refusal != null) put.fail(refusal);
    else if (ended != null) end(ended);
    else if (put.waitingOver() != null) settleOver(put.resident);
    else if (isNew) changed(put.resident);
  }

  private static LimitExceeded tooMany(PutRequest put, String where, int max) {
    return new LimitExceeded(
        "a call on "
            + put.resident.key
            + " would wait for its condition, and "
            + max
            + " calls wait "
            + where
            + " already; it has changed nothing: call it again later");
  }

  // ---- the search for a put that goes on

  /// Notes that a key has changed. The runner of the key calls this, and it does not wait.
  void changed(Resident resident) {
    Line line = lines.get(resident);
    if (line == null) return;
    synchronized (line) {
      line.changed = true;
      if (line.searching) return;
      line.searching = true;
    }
    search(line, 0);
  }

  /// Notes that the generation of a key has ended: no put on it goes on.
  void deleted(Resident resident) {
    Line line = lines.get(resident);
    if (line == null) return;
    settle(line, _ -> true, _ -> KeyRefusals.gone(resident.key), Pending::fail);
    changed(resident);
  }

  /// Asks for the first put that goes on, from a place in the line on.
  private void search(Line line, int from) {
    int first = from;
    List<Waiter> tried = List.of();
    synchronized (line) {
      if (line.changed) {
        line.changed = false;
        first = 0;
      }
      int size = line.waiters.size();
      if (first < size && ended == null) {
        tried = List.copyOf(line.waiters.subList(first, Math.min(size, first + line.tried)));
      } else {
        line.tried = TRIED_MIN;
      }
      line.searching = !tried.isEmpty();
    }
    if (tried.isEmpty()) drop(line);
    else ask(line, tried, first);
  }

  private void ask(Line line, List<Waiter> tried, int first) {
    var question = new Unblocked(tried.stream().map(waiter -> waiter.put.value).toList());
    Resident resident = line.resident;
    if (!resident.pin()) { // the last put that kept it has ended
      synchronized (line) {
        line.searching = false;
      }
      drop(line);
      return;
    }
    resident.books().begun();
    Pace pace = isBrief(resident, tried) ? Pace.BRIEF : Pace.LONG;
    Terms terms = Terms.expecting(tried.getFirst().put.existence).at(pace);
    var asked = new GetRequest(resident, question, terms, 0);
    asked.whenDone(done -> found(line, tried, first, (GetRequest) done));
    journal.askSoon(asked);
  }

  /// Returns whether the trials of some puts take little time together.
  private static boolean isBrief(Resident resident, List<Waiter> tried) {
    return tried.size() <= BRIEF_TRIED_MAX
        && resident.forksCheaply()
        && tried.stream().allMatch(waiter -> waiter.put.pace == Pace.BRIEF);
  }

  private void found(Line line, List<Waiter> tried, int from, GetRequest asked) {
    // Of a question that failed the first put says why.
    List<Integer> released = List.of(0);
    boolean isHeld = false;
    if (!asked.failed()) {
      var found = (Unblocked.First) asked.answer();
      released = found.released();
      isHeld = found.isHeld();
      if (found.isTimed()) {
        synchronized (line) {
          line.isTimed = true;
        }
      }
    }
    int waiting = released.isEmpty() ? tried.size() : released.getFirst();
    // The front put of those that were tried is the front of the line only in the first question.
    if (from > 0 && waiting > 0 && !released.isEmpty()) released = released.subList(0, 1);
    synchronized (line) {
      for (Waiter waiter : tried.subList(0, waiting)) waiter.waited = true;
    }
    if (isOvertaken(line, from)) search(line, 0);
    else if (!released.isEmpty()) attempt(line, released.stream().map(tried::get).toList());
    else search(line, isHeld ? Integer.MAX_VALUE : from + waiting);
  }

  /// Returns whether the puts in front of those that were tried were tried at an earlier state.
  private static boolean isOvertaken(Line line, int from) {
    synchronized (line) {
      if (from == 0 || !line.changed) return false;
      line.tried = Math.min(2 * line.tried, OF_KEY_MAX);
      return true;
    }
  }

  /// Logs puts again that one change has probably released together.
  private void attempt(Line line, List<Waiter> released) {
    List<Waiter> there;
    synchronized (line) {
      there = released.stream().filter(line.waiters::contains).toList();
      for (Waiter waiter : there) waiter.attempted = true;
    }
    if (there.isEmpty()) {
      search(line, 0);
      return;
    }
    var group = new Group(there.size());
    List<PutRequest> attempts =
        there.stream().map(waiter -> attempt(line, waiter, group, false)).toList();
    // No change comes between them, which might let one overtake another.
    attempts.getFirst().behind = attempts.subList(1, attempts.size());
    journal.logAgain(attempts.getFirst());
  }

  /// Attempts that are logged together. Guarded by their line.
  private static final class Group {
    private int left;
    private int next = -1;

    private Group(int size) {
      left = size;
    }
  }

  /// Returns the attempt of the first put that waits on a key, for the batch of a change of the key
  /// and right behind it; null when there is none, or when it would hardly go on. The batch writer
  /// calls this.
  public @Nullable PutRequest attemptBehind(PutRequest change) {
    if (all.get() == 0) return null;
    Line line = lines.get(change.resident);
    if (line == null || ended != null) return null;
    Waiter first;
    synchronized (line) {
      if (line.searching || !line.guesses || line.waiters.isEmpty()) return null;
      first = line.waiters.getFirst();
      first.attempted = true;
      line.searching = true;
    }
    return attempt(line, first, new Group(1), true);
  }

  private PutRequest attempt(Line line, Waiter waiter, Group group, boolean isGuess) {
    PutRequest put = waiter.put;
    Resident resident = put.resident;
    Check.that(resident.pin(), "%s stays in memory while a call waits", resident.key);
    resident.books().begun();
    PutRequest attempt = put.again();
    if (attempt.ticksMax > 0) limits.begun(attempt);
    attempt.whenDone(_ -> ran(line, waiter, attempt, group, isGuess));
    return attempt;
  }

  private void ran(Line line, Waiter waiter, PutRequest attempt, Group group, boolean isGuess) {
    RuntimeException failure = attempt.failure();
    if (failure != null) {
      attempt.behind.forEach(one -> one.fail(failure)); // they have not come to the log either
    }
    boolean waits = failure == null && attempt.answer().isWaiting();
    boolean last;
    int next;
    synchronized (line) {
      waiter.attempted = false;
      if (isGuess || !waits) line.guesses = !waits;
      if (waits) {
        if (group.next < 0) group.next = line.waiters.indexOf(waiter) + 1;
        line.isTimed |= attempt.answer().isTimed();
      } else {
        line.waiters.remove(waiter);
        if (!isGuess) line.resident.callsWait = waiter.waited;
      }
      last = --group.left == 0;
      next = Math.max(0, group.next);
    }
    if (!waits) {
      all.decrementAndGet();
      waiter.put.settleAs(attempt);
    } else if (waiter.put.waitingOver() != null) {
      settleOver(line.resident);
    }
    if (last) search(line, next);
  }

  /// Forgets a line in which no put waits.
  private void drop(Line line) {
    lines.computeIfPresent(
        line.resident,
        (_, known) -> {
          synchronized (known) {
            return known.waiters.isEmpty() && !known.searching ? null : known;
          }
        });
  }

  // ---- the ends of puts that wait

  /// Ends the puts whose time is over, and those whose keys are in quarantine; asks the keys again
  /// whose puts wait for a time.
  public void tick() {
    int now = limits.now();
    if (now % TIMED_TICKS == 0) lookAgain();
    for (Line line : lines.values()) {
      Resident resident = line.resident;
      settle(line, put -> put.isLateWaiting(now), this::late, this::leave);
      RuntimeException banned = bans.refusal(resident.key, resident.generationHint());
      if (banned != null) settle(line, _ -> true, _ -> banned, Pending::fail);
    }
  }

  private void lookAgain() {
    for (Line line : lines.values()) {
      boolean isTimed;
      synchronized (line) {
        isTimed = line.isTimed && !line.searching;
        line.isTimed &= line.searching; // the answer says whether it still is
      }
      if (isTimed) changed(line.resident);
    }
  }

  private DeadlineExceeded late(PutRequest put) {
    return new DeadlineExceeded(
        what(put)
            + " waited for its condition for longer than its time, "
            + put.waitMillis()
            + " ms; it has changed nothing");
  }

  private String what(PutRequest put) {
    Key key = put.resident.key;
    String method = spaces.factory(key.space()).method(key, put.value);
    return "a call " + (method.isEmpty() ? "on " : "of " + method + " on ") + key;
  }

  /// Ends the puts of a session whose client is gone.
  public void endSession(long session, RuntimeException why) {
    for (Line line : lines.values()) {
      synchronized (line) {
        for (Waiter waiter : line.waiters) {
          if (waiter.put.session() == session) waiter.put.endWaiting(why);
        }
      }
      settleOver(line.resident);
    }
  }

  /// Ends a put when it waits, now or later. An attempt in progress may still go on.
  public void end(PutRequest put, RuntimeException why) {
    if (put.isDone()) return;
    put.endWaiting(why);
    settleOver(put.resident);
  }

  /// Ends the puts of a key that must not wait any more.
  private void settleOver(Resident resident) {
    Line line = lines.get(resident);
    if (line == null) return;
    settle(
        line,
        put -> put.waitingOver() != null,
        put -> Objects.requireNonNull(put.waitingOver()),
        this::leave);
  }

  /// Ends all puts, and those that come later.
  public void end(RuntimeException why) {
    ended = why;
    for (Line line : lines.values()) settle(line, _ -> true, _ -> why, Pending::fail);
  }

  /// Ends a put whose caller has left, once the key knows that.
  private void leave(PutRequest put, RuntimeException why) {
    Key key = put.resident.key;
    Supplier<byte[]> left = spaces.factory(key.space()).left(key, put.value);
    if (left == null) {
      put.fail(why);
      return;
    }
    try {
      threads.work(() -> {
        try {
          journal.logLeft(key, left.get(), put.existence).whenDone(_ -> put.fail(why));
        } catch (RuntimeException refused) {
          put.fail(why); // nothing can be logged
        }
      });
    } catch (RejectedExecutionException closed) {
      put.fail(why);
    }
  }

  /// Ends some puts of a line that have no attempt; returns whether there were any.
  ///
  /// @param end fails a put with its reason
  private boolean settle(
      Line line,
      Predicate<PutRequest> which,
      Function<PutRequest, RuntimeException> why,
      BiConsumer<PutRequest, RuntimeException> end) {
    var over = new ArrayList<PutRequest>();
    synchronized (line) {
      line.waiters.removeIf(waiter -> {
        if (waiter.attempted || !which.test(waiter.put)) return false;
        over.add(waiter.put);
        return true;
      });
    }
    if (over.isEmpty()) return false;
    changed(line.resident); // those behind them may have waited for them alone
    for (PutRequest put : over) {
      all.decrementAndGet();
      put.reflectsAll();
      end.accept(put, why.apply(put));
    }
    return true;
  }

  // ---- the operator

  /// Passes the puts that wait, and have no attempt in progress, to a visitor.
  void visit(Consumer<PutRequest> visitor) {
    for (Line line : lines.values()) {
      synchronized (line) {
        for (Waiter waiter : line.waiters) if (!waiter.attempted) visitor.accept(waiter.put);
      }
    }
  }

  /// Ends one put; returns whether it waited.
  boolean end(Predicate<PutRequest> which, Function<PutRequest, RuntimeException> why) {
    for (Line line : lines.values()) if (settle(line, which, why, this::leave)) return true;
    return false;
  }

  /// Returns how many puts wait.
  public int count() {
    return all.get();
  }
}
