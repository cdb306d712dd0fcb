package stoa.store;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.base.Clock;
import stoa.log.Entry;
import stoa.log.ShardLog;
import stoa.log.Token;

/// Gives several stores one [Addresses], and commits transactions over them: the sequencer of
/// vCorfu (section 3.2), which is soft state beside the store that is *home*, and whoever leads
/// that is the coordinator. Thread-safe.
///
/// Transactions are committed in rounds, one at a time, as many as have arrived meanwhile. All
/// stores that have a part in a round, and home, are [Held]; those transactions against which no
/// store has anything are given addresses; home logs that with their parts, which is the commit
/// (vCorfu, section 4.3); then every store logs its parts.
public final class Coordinator {
  /*
   * A store is ready under the term of its owner. It is not while it may be held by an earlier coordinator,
   * or may lack something that was decided: then its owner asks (adopt), or is told (Member.adopt), and has
   * all of that when it asks for addresses the first time.
   *
   * Addresses never come twice: they begin so far behind the end of home's log that no earlier coordinator
   * can have given them, since none gives any that are further than that from what home has logged.
   *
   * Invariants:
   * (1) A transaction is committed when the decision is in home's log, and never is when its round is over
   *     without.
   * (2) What is decided of a store is in undelivered until the store has logged it. Until then it logs
   *     nothing else.
   * (3) Nothing is given when another one may be the coordinator: home's log is asked first.
   * (4) No store gets another owner while it is being decided over what the present one has said.
   * (5) Nobody begins to read in front of the horizon, but at an address that he remembers. Who reads the present in a
   *     store has pinned that there before he asks for it here: he is seen by who looks for the horizon after, and
   *     otherwise is given an address behind it. Transactions and snapshots are pinned where they begin, the snapshots
   *     with names at home.
   */

  /// One of the stores, wherever it is led. What fails may have happened.
  public interface Member {
    /// Holds the store, and examines its parts of transactions. It stays held until this round is
    /// over, or one with a higher number.
    ///
    /// @param term of the owner that is meant: an earlier one does not know what has changed since
    /// @param round above that of every earlier one
    /// @return the verdict over each
    /// @throws Unavailable when it is not there, has another owner, or is in another epoch
    List<Held.Verdict> hold(long epoch, long term, long round, List<Part> parts);

    /// Logs what is committed of a round, and waits until it is executed.
    ///
    /// @param committed the parts, by the offset of their transaction in the token
    void commit(long epoch, long round, Token token, SortedMap<Integer, Part> committed);

    /// Lets the store go, if it is held by a round that is not above this one.
    void release(long epoch, long round);

    /// Has the store log what was decided, and lets it go, unless it is held by a round above this
    /// one.
    ///
    /// @return the term of its owner
    long adopt(long round, Addresses.Adopted adopted);

    /// The least log counter that somebody reads at in the store; [Long#MAX_VALUE] when nobody
    /// does.
    ///
    /// @param horizon in front of which nobody will read in any store
    /// @throws Unavailable when it is not there
    long held(long horizon);
  }

  /// What a transaction has to do with one store, by the name that the store knows it by.
  ///
  /// @param session who runs it
  /// @param number which one of that session
  public record Part(long session, long number) {}

  private static final Logger LOG = LoggerFactory.getLogger(Coordinator.class);

  /// How far behind the end of home's log addresses are given, at most.
  private static final long AHEAD_MAX = 1L << 40;

  /// As far ahead the other stores are given addresses. The rest is for home: what it logs makes
  /// room for all.
  private static final long AHEAD_OTHERS_MAX = AHEAD_MAX / 4 * 3;

  private static final int ROUND_MAX = 256;

  /// As many bytes are decided in a round, but for one transaction that has more by itself.
  private static final long ROUND_BYTES_MAX = 1 << 20;

  private static final int WAITING_MAX = 10_000;
  private static final int REMEMBERED_MAX = 65_536;
  private static final int TRIM_STEP = 1_024;
  private static final Duration WAIT_MAX = Duration.ofSeconds(10);

  /// So long after its beginning the stores release nothing by themselves: clients say again what
  /// they hold.
  private static final long FIRST_LOOK_MICROS = 30_000_000;

  private static final long LOOK_MICROS = 1_000_000;

  /// So long it does not look again when a store did not say: it may be one of an earlier program,
  /// which ends its line over a question that it does not know.
  private static final long LOOK_AGAIN_MICROS = 10_000_000;

  private final int home;
  private final Map<Integer, Member> members;
  private final Executor threads;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition decided = lock.newCondition();

  // Guarded by lock.
  private final Map<Integer, Standing> standings = new HashMap<>();
  private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
  private final Map<UUID, Pending> underWay = new HashMap<>();
  private final SortedMap<Long, Delivery> undelivered = new TreeMap<>();
  private final LinkedHashMap<UUID, LogAddress> committed = new LinkedHashMap<>();
  private @Nullable Store store;
  private @Nullable Participant own;
  private @Nullable RuntimeException broken;
  private long epoch;
  private long counter;
  private long rounds;
  private long lastDecision;
  private boolean running;
  private boolean bumping;
  private Set<Integer> deciding = Set.of();

  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile long nextLook;

  /// In front of it nobody reads in any store.
  private volatile long horizon;

  /// How a store stands to this coordinator.
  private static final class Standing {
    private long term = -1;
    private boolean ready;
    private boolean told;

    /// How often it has got another owner, or was lost sight of: what was asked of it before says
    /// nothing of it now.
    private long changes;

    /// What its owner has in its log when it asks for addresses the first time; null when it has
    /// done so, or has not adopted anything here.
    private @Nullable List<Addresses.Decided> adopted;

    private void unready() {
      ready = false;
      changes++;
    }
  }

  /// A transaction that waits for the end of a round.
  private record Pending(
      UUID id,
      SortedMap<Integer, Part> parts,
      long sinceMicros,
      CompletableFuture<LogAddress> outcome) {}

  /// A decision, and the stores that may not have logged it.
  private record Delivery(Decision decision, Set<Integer> rest) {}

  /// @param home the number of the store beside which this is
  /// @param members the others, by their numbers
  /// @param threads on which it waits for stores
  public Coordinator(int home, Map<Integer, Member> members, Executor threads, Clock clock) {
    this.home = home;
    this.members = new TreeMap<>(members); // not in an order that each process has for itself
    this.threads = threads;
    this.clock = clock;
    for (int member : members.keySet()) standings.put(member, new Standing());
  }

  // ---- its beginning

  /// The order of the store that is home, with which that is opened; then comes [#begin].
  public Addresses home() {
    return new Addresses() {
      @Override
      public Adopted adopt(long term, ShardLog.Tail tail) {
        lock.lock();
        try {
          epoch = tail.epoch() + 1;
          counter = tail.counter() + AHEAD_MAX;
          return new Adopted(epoch, counter, List.of());
        } finally {
          lock.unlock();
        }
      }

      @Override
      public long reserve(long term, int count) {
        return issue(count, AHEAD_MAX);
      }

      @Override
      public long horizon() {
        return leastHeld();
      }

      @Override
      public boolean isBeside() {
        return true;
      }

      @Override
      public long moment() {
        return last();
      }
    };
  }

  /// Begins, when home is open: goes on with what an earlier coordinator has decided.
  ///
  /// @param participant of home
  public void begin(Store opened, Participant participant) {
    var found = new TreeMap<Long, Decision>();
    opened.scan(
        Decision.KEY,
        Math.max(1, opened.streams().oldest(Decision.KEY.stream())),
        entry -> {
          Decision decision = Decision.parse(entry.payload());
          if (decision != null) found.put(entry.address(), decision);
          return true;
        });
    // Nothing is given before home has logged in this epoch.
    var _ = opened.append(Decision.KEY, Decision.beginning());
    lock.lock();
    try {
      long behind = found.isEmpty() ? 0 : found.lastEntry().getValue().behind();
      found.forEach((address, decision) -> {
        remember(decision);
        var rest = new HashSet<>(decision.parts().keySet());
        if (address > behind && !rest.isEmpty()) {
          undelivered.put(address, new Delivery(decision, rest));
        }
        lastDecision = address;
      });
      store = opened;
      own = participant;
      nextLook = clock.nowMicros() + FIRST_LOOK_MICROS;
    } finally {
      lock.unlock();
    }
    tick();
  }

  /// To be called every now and then: tells the owners of stores of this coordinator that do not
  /// know, and gives up transactions that have waited for too long.
  public void tick() {
    var unknown = new ArrayList<Integer>();
    var late = new ArrayList<Pending>();
    lock.lock();
    try {
      if (store == null || broken != null) return;
      standings.forEach((member, standing) -> {
        if (standing.ready || standing.told) return;
        standing.told = true;
        unknown.add(member);
      });
      long before = clock.nowMicros() - WAIT_MAX.toNanos() / 1_000;
      waiting.removeIf(pending -> pending.sinceMicros < before && late.add(pending));
      for (Pending pending : late) underWay.remove(pending.id);
    } finally {
      lock.unlock();
    }
    for (int member : unknown) threads.execute(() -> tell(member));
    if (isToLook()) threads.execute(this::look);
    for (Pending pending : late) {
      pending.outcome.completeExceptionally(
          new Unavailable("a part of the store is not there; nothing was written, try again"));
    }
  }

  /// Whether it is time to look for the horizon, once in a while. Whoever holds something here, and
  /// was connected with an earlier coordinator, has time to say so again.
  private boolean isToLook() {
    long now = clock.nowMicros();
    if (now < nextLook || !looking.compareAndSet(false, true)) return false;
    nextLook = now + LOOK_MICROS;
    return true;
  }

  private void tell(int member) {
    Addresses.Adopted adopted;
    long round;
    long changes;
    lock.lock();
    try {
      adopted = adopted(member);
      round = rounds;
      changes = standing(member).changes;
    } finally {
      lock.unlock();
    }
    long term = -1;
    try {
      term = member(member).adopt(round, adopted);
    } catch (RuntimeException later) {
      LOG.debug("store {} is not there: {}", member, later.getMessage());
    }
    lock.lock();
    try {
      Standing standing = standing(member);
      standing.told = false;
      if (changes == standing.changes && term >= standing.term && term >= 0) {
        standing.term = term;
        standing.adopted = null;
        ready(member, adopted.decided());
      }
    } finally {
      lock.unlock();
    }
    run();
  }

  /// What the owner of a store is to know; with the lock.
  private Addresses.Adopted adopted(int member) {
    var missing = new ArrayList<Addresses.Decided>();
    for (Delivery delivery : undelivered.values()) {
      if (delivery.rest.contains(member)) missing.add(delivery.decision.of(member));
    }
    return new Addresses.Adopted(epoch, counter, missing);
  }

  /// A store has logged what was decided; with the lock.
  private void ready(int member, List<Addresses.Decided> logged) {
    for (Addresses.Decided one : logged) delivered(member, one.token());
    standing(member).ready = true;
  }

  private void delivered(int member, Token token) {
    for (var delivery : undelivered.values()) {
      if (delivery.decision.token().equals(token)) delivery.rest.remove(member);
    }
    undelivered.values().removeIf(delivery -> delivery.rest.isEmpty());
  }

  // ---- the order

  /// The order of another store than home.
  public Addresses of(int member) {
    return new Addresses() {
      @Override
      public Adopted adopt(long term, ShardLog.Tail tail) {
        var _ = confirmed();
        lock.lock();
        try {
          Standing standing = standing(member);
          while (deciding.contains(member)) decided.awaitUninterruptibly();
          checkSound();
          List<Decided> before = standing.adopted;
          if (term < standing.term) throw overtaken(member);
          Check.that(tail.counter() <= counter, "%s is given to store %s", tail, member);
          if (term == standing.term) {
            if (before == null) throw overtaken(member);
            return new Adopted(epoch, counter, before); // it has asked again
          }
          standing.term = term;
          standing.unready();
          Adopted adopted = adopted(member);
          standing.adopted = adopted.decided();
          return adopted;
        } finally {
          lock.unlock();
        }
      }

      @Override
      public long reserve(long term, int count) {
        if (!knows(term)) {
          tick();
          throw new Unavailable("store " + member + " is to be told of its coordinator first");
        }
        var _ = confirmed();
        run();
        return issue(count, AHEAD_OTHERS_MAX);
      }

      // Whether the store is ready, under a term.
      private boolean knows(long term) {
        lock.lock();
        try {
          Standing standing = standing(member);
          if (term < standing.term) throw overtaken(member);
          if (term > standing.term) {
            // It has adopted from an earlier coordinator. Whoever was told by this one, does not
            // lead.
            if (standing.ready) standing.unready();
            return false;
          }
          List<Decided> adopted = standing.adopted;
          if (!standing.ready && adopted != null) {
            // Its log is open, with all that it was given.
            standing.adopted = null;
            ready(member, adopted);
          }
          return standing.ready;
        } finally {
          lock.unlock();
        }
      }

      @Override
      public long moment() {
        return last();
      }

      @Override
      public long horizon() {
        return leastHeld();
      }
    };
  }

  /// The last address that was given.
  private long last() {
    var _ = confirmed();
    lock.lock();
    try {
      return counter;
    } finally {
      lock.unlock();
    }
  }

  private static Unavailable overtaken(int member) {
    return new Unavailable("store " + member + " has another owner by now");
  }

  /// Home, when nobody else can have been the coordinator.
  private Store confirmed() {
    Store opened;
    lock.lock();
    try {
      checkSound();
      opened = store;
    } finally {
      lock.unlock();
    }
    if (opened == null) throw new Unavailable("the coordinator of the stores has not begun");
    opened.checkOpen();
    opened.checkUsable();
    return opened;
  }

  private void checkSound() {
    RuntimeException cause = broken;
    if (cause != null) throw new Unavailable("the coordinator of the stores has failed", cause);
  }

  private long issue(int count, long aheadMax) {
    boolean bump = false;
    long before;
    lock.lock();
    try {
      Store opened = store;
      if (opened != null) {
        long ahead = counter + count - opened.moment();
        if (ahead > aheadMax) {
          throw new Unavailable("addresses are given faster than home logs; try again");
        }
        bump = ahead > AHEAD_MAX / 2 && !bumping;
        bumping |= bump;
      }
      before = counter;
      counter += count;
    } finally {
      lock.unlock();
    }
    if (bump) threads.execute(this::bump);
    return before;
  }

  /// Has home log something, so that more addresses can be given.
  private void bump() {
    try {
      var _ = confirmed().append(Decision.KEY, Decision.beginning());
    } finally {
      lock.lock();
      try {
        bumping = false;
      } finally {
        lock.unlock();
      }
    }
  }

  // ---- what is read

  /// The least log counter that somebody reads at in any store, or will: who begins to read the
  /// present after this has begun, is given no less.
  private long leastHeld() {
    long least = last();
    var all = new ArrayList<CompletableFuture<Long>>();
    for (Member member : members.values()) {
      all.add(CompletableFuture.supplyAsync(() -> member.held(horizon), threads));
    }
    all.add(CompletableFuture.supplyAsync(() -> here().held(horizon), threads));
    Unavailable away = null;
    for (var one : all) {
      try {
        least = Math.min(least, one.join());
      } catch (CompletionException failed) {
        away = new Unavailable("nobody knows what is read in all groups", failed);
      }
    }
    if (away != null) throw away;
    return least;
  }

  private Participant here() {
    lock.lock();
    try {
      return Objects.requireNonNull(own);
    } finally {
      lock.unlock();
    }
  }

  /// Finds out how far the stores may release by themselves, and tells them the next time.
  private void look() {
    try {
      horizon = Math.max(horizon, leastHeld());
    } catch (RuntimeException later) {
      LOG.debug("the horizon stays where it is", later);
      nextLook = clock.nowMicros() + LOOK_AGAIN_MICROS;
    } finally {
      looking.set(false);
    }
  }

  // ---- transactions

  /// Commits a transaction over several stores.
  ///
  /// @param id what it is known by: asked again, it is not committed again
  /// @param parts what each store knows it by
  /// @return its log address; fails with [stoa.Aborted] when a key that it read or wrote has
  ///   changed, with [Unavailable] when nothing was written, and with [UnknownOutcome] when the
  ///   next coordinator is to be asked
  public CompletableFuture<LogAddress> commit(UUID id, SortedMap<Integer, Part> parts) {
    for (int member : parts.keySet()) {
      if (member != home && !members.containsKey(member)) {
        throw new IllegalArgumentException("there is no store " + member);
      }
    }
    var _ = confirmed();
    CompletableFuture<LogAddress> outcome;
    boolean all;
    lock.lock();
    try {
      LogAddress earlier = committed.get(id);
      if (earlier != null) return CompletableFuture.completedFuture(earlier);
      Pending known = underWay.get(id);
      if (known != null) return known.outcome;
      if (underWay.size() >= WAITING_MAX) {
        throw new LimitExceeded(
            "more than " + WAITING_MAX + " transactions over several groups are under way; wait");
      }
      outcome = new CompletableFuture<>();
      var pending = new Pending(id, parts, clock.nowMicros(), outcome);
      underWay.put(id, pending);
      waiting.add(pending);
      all = parts.keySet().stream().allMatch(this::isReady);
    } finally {
      lock.unlock();
    }
    if (!all) tick();
    run();
    return outcome;
  }

  private void run() {
    lock.lock();
    try {
      if (running || waiting.isEmpty() || store == null || broken != null) return;
      running = true;
    } finally {
      lock.unlock();
    }
    threads.execute(this::rounds);
  }

  private void rounds() {
    try {
      for (Round round; (round = next()) != null; ) round.run();
    } catch (Unavailable elsewhere) {
      LOG.info("home is led from here no more: {}", elsewhere.getMessage());
      fail(elsewhere);
    } catch (RuntimeException | Error failed) {
      fail(failed);
      throw failed;
    }
  }

  /// The next round; null when there is nothing to commit.
  private @Nullable Round next() {
    lock.lock();
    try {
      var chosen = new ArrayList<Pending>();
      if (broken == null) {
        var all = waiting.iterator();
        while (all.hasNext() && chosen.size() < ROUND_MAX) {
          Pending pending = all.next();
          if (!pending.parts.keySet().stream().allMatch(this::isReady)) continue;
          all.remove();
          chosen.add(pending);
        }
      }
      running = !chosen.isEmpty();
      return running ? new Round(++rounds, chosen) : null;
    } finally {
      lock.unlock();
    }
  }

  private boolean isReady(int member) {
    return member == home || standing(member).ready;
  }

  /// Whether home's log has what was decided, nobody knows: whoever opens it next does.
  private void fail(Throwable cause) {
    List<Pending> all;
    lock.lock();
    try {
      broken = new UnknownOutcome("a decision could not be logged: " + cause, cause);
      all = List.copyOf(underWay.values());
      underWay.clear();
      waiting.clear();
      deciding = Set.of();
      decided.signalAll();
    } finally {
      lock.unlock();
    }
    RuntimeException told = Objects.requireNonNull(broken);
    for (Pending pending : all) pending.outcome.completeExceptionally(told);
  }

  private void remember(Decision decision) {
    for (UUID id : decision.ids()) {
      committed.put(id, Objects.requireNonNull(decision.address(id)));
      if (committed.size() > REMEMBERED_MAX) committed.pollFirstEntry();
    }
  }

  private Standing standing(int member) {
    return Objects.requireNonNull(standings.get(member), "a store that is there");
  }

  private Member member(int number) {
    return Objects.requireNonNull(members.get(number), "a store that is there");
  }

  /// One round. One thread runs it.
  private final class Round {
    private final long number;
    private final List<Pending> chosen;
    private final Map<Integer, Long> terms = new TreeMap<>();
    private final Map<Integer, Long> changes = new TreeMap<>();
    private final Map<Integer, List<Pending>> byMember = new TreeMap<>();

    /// With the lock.
    private Round(long number, List<Pending> chosen) {
      this.number = number;
      this.chosen = chosen;
      for (Pending pending : chosen) {
        for (int member : pending.parts.keySet()) {
          byMember.computeIfAbsent(member, _ -> new ArrayList<>()).add(pending);
          if (member == home) continue;
          terms.put(member, standing(member).term);
          changes.put(member, standing(member).changes);
        }
      }
      byMember.putIfAbsent(home, List.of());
    }

    private void run() {
      Participant here = Objects.requireNonNull(own);
      Map<Integer, List<Held.Verdict>> verdicts = hold(here);
      if (!verdicts.containsKey(home)) {
        giveUp(chosen, new Unavailable("nothing was written, try again: home cannot be held up"));
        deliver(null, List.of());
        return;
      }
      var passed = new ArrayList<Pending>();
      var refused = new LinkedHashMap<Pending, RuntimeException>();
      var later = new ArrayList<Pending>();
      var entries = new HashMap<Pending, Map<Integer, List<Entry>>>();
      for (Pending pending : chosen) {
        judge(pending, verdicts, entries, passed, refused, later);
      }
      Decision decision = decide(passed, later, entries);
      refused.forEach((pending, cause) -> {
        over(pending);
        pending.outcome.completeExceptionally(cause);
      });
      if (decision == null) {
        here.release(epoch, number);
        decided(later);
        deliver(null, passed);
        return;
      }
      var logged = new boolean[1];
      try {
        here.commit(
            epoch,
            number,
            decision.token(),
            committed(home, passed),
            decision.toBytes(),
            address -> {
              logged[0] = true;
              logged(decision, address);
              decided(later);
              deliver(decision, passed);
            });
      } catch (RuntimeException failed) {
        if (!logged[0]) {
          if (Objects.requireNonNull(store).hasFailed()) throw failed;
          // Home's log takes no more, say.
          giveUp(passed, failed);
          decided(later);
          deliver(null, passed);
          return;
        }
      }
      if (lastDecision % TRIM_STEP == 0) forget(here);
      for (int i = 0; i < passed.size(); i++) {
        over(passed.get(i));
        passed.get(i).outcome.complete(decision.token().at(i));
      }
    }

    /// Forgets what is old, and logged everywhere. If that is not possible now, it will be.
    private void forget(Participant here) {
      long before = Math.min(behind(), lastDecision - REMEMBERED_MAX);
      if (before <= 1) return;
      try {
        here.forget(before);
      } catch (RuntimeException later) {
        LOG.debug("old decisions stay for now", later);
      }
    }

    /// Nothing is logged of these.
    private void giveUp(List<Pending> all, RuntimeException cause) {
      for (Pending pending : all) {
        over(pending);
        pending.outcome.completeExceptionally(cause);
      }
    }

    private void over(Pending pending) {
      lock.lock();
      try {
        underWay.remove(pending.id);
      } finally {
        lock.unlock();
      }
    }

    /// What is decided is decided: stores may get other owners.
    private void decided(List<Pending> later) {
      lock.lock();
      try {
        deciding = Set.of();
        decided.signalAll();
        for (Pending pending : later) waiting.addFirst(pending);
      } finally {
        lock.unlock();
      }
    }

    private Map<Integer, List<Held.Verdict>> hold(Participant here) {
      var verdicts = new HashMap<Integer, List<Held.Verdict>>();
      beside(member -> {
        long term = Objects.requireNonNull(terms.get(member));
        List<Held.Verdict> said = member(member).hold(epoch, term, number, parts(member));
        synchronized (verdicts) {
          verdicts.put(member, said);
        }
      });
      // Last, so that home is held up for the least time.
      try {
        verdicts.put(home, here.hold(epoch, here.term(), number, parts(home)));
      } catch (RuntimeException notNow) {
        LOG.debug("home is not held up", notNow);
      }
      return verdicts;
    }

    private List<Part> parts(int member) {
      return of(member).stream()
          .map(pending -> Objects.requireNonNull(pending.parts.get(member)))
          .toList();
    }

    private List<Pending> of(int member) {
      return Objects.requireNonNull(byMember.get(member));
    }

    /// Does something for all members but home, beside each other; one that fails is not ready.
    private void beside(Consumer<Integer> action) {
      var all = new ArrayList<CompletableFuture<Void>>();
      for (int member : byMember.keySet()) {
        if (member == home) continue;
        all.add(
            CompletableFuture.runAsync(() -> action.accept(member), threads)
                .exceptionally(failed -> {
                  LOG.debug("store {} is not there", member, failed);
                  unready(member);
                  return null;
                }));
      }
      all.forEach(CompletableFuture::join);
    }

    private void unready(int member) {
      lock.lock();
      try {
        if (isSince(member)) standing(member).unready();
      } finally {
        lock.unlock();
      }
    }

    private void judge(
        Pending pending,
        Map<Integer, List<Held.Verdict>> verdicts,
        Map<Pending, Map<Integer, List<Entry>>> entries,
        List<Pending> passed,
        Map<Pending, RuntimeException> refused,
        List<Pending> later) {
      boolean waits = false;
      for (int member : pending.parts.keySet()) {
        List<Held.Verdict> said = verdicts.get(member);
        if (said == null) {
          waits = true; // until it is there again
          continue;
        }
        switch (said.get(of(member).indexOf(pending))) {
          case Held.Verdict.Ready(List<Entry> some) ->
              entries.computeIfAbsent(pending, _ -> new HashMap<>()).put(member, some);
          case Held.Verdict.Refused(RuntimeException cause) -> {
            refused.put(pending, cause);
            return;
          }
          case Held.Verdict.Later() -> waits = true;
        }
      }
      if (waits) later.add(pending);
      else passed.add(pending);
    }

    /// Gives addresses to what has passed, as far as all who said so are the owners still.
    private @Nullable Decision decide(
        List<Pending> passed,
        List<Pending> later,
        Map<Pending, Map<Integer, List<Entry>>> entries) {
      var involved = new HashSet<Integer>();
      Token token;
      lock.lock();
      try {
        passed.removeIf(pending -> !isAsBefore(pending) && later.add(pending));
        limit(passed, later, entries);
        if (passed.isEmpty()) return null;
        for (Pending pending : passed) involved.addAll(pending.parts.keySet());
        deciding = involved;
        token = new Token(new LogAddress(epoch, counter + 1), passed.size());
        counter += passed.size();
      } finally {
        lock.unlock();
      }
      var parts = new TreeMap<Integer, List<Entry>>();
      for (int i = 0; i < passed.size(); i++) {
        int offset = i;
        Objects.requireNonNull(entries.get(passed.get(i)))
            .forEach((member, some) -> {
              if (member == home || some.isEmpty()) return;
              var placed = parts.computeIfAbsent(member, _ -> new ArrayList<>());
              for (Entry entry : some) placed.add(entry.at(offset));
            });
      }
      return new Decision(
          token, clock.nowMicros(), passed.stream().map(Pending::id).toList(), parts, behind());
    }

    /// Leaves to the next round what would make the decision too large.
    private static void limit(
        List<Pending> passed,
        List<Pending> later,
        Map<Pending, Map<Integer, List<Entry>>> entries) {
      long bytes = 0;
      for (int i = 0; i < passed.size(); i++) {
        for (List<Entry> some : Objects.requireNonNull(entries.get(passed.get(i))).values()) {
          for (Entry entry : some) bytes += entry.payload().length;
        }
        if (i == 0 || bytes <= ROUND_BYTES_MAX) continue;
        var rest = passed.subList(i, passed.size());
        later.addAll(rest);
        rest.clear();
      }
    }

    private boolean isAsBefore(Pending pending) {
      for (int member : pending.parts.keySet()) {
        if (member != home && !(standing(member).ready && isSince(member))) return false;
      }
      return true;
    }

    /// Whether a store is as it was when the round began.
    private boolean isSince(int member) {
      return standing(member).changes == changes.getOrDefault(member, -1L);
    }

    private void logged(Decision decision, long address) {
      lock.lock();
      try {
        remember(decision);
        lastDecision = address;
        var rest = new HashSet<>(decision.parts().keySet());
        if (!rest.isEmpty()) undelivered.put(address, new Delivery(decision, rest));
      } finally {
        lock.unlock();
      }
    }

    private SortedMap<Integer, Part> committed(int member, List<Pending> passed) {
      var parts = new TreeMap<Integer, Part>();
      for (int i = 0; i < passed.size(); i++) {
        Part part = passed.get(i).parts.get(member);
        if (part != null) parts.put(i, part);
      }
      return parts;
    }

    private void deliver(@Nullable Decision decision, List<Pending> passed) {
      beside(member -> {
        SortedMap<Integer, Part> mine = committed(member, passed);
        if (decision == null || mine.isEmpty()) {
          member(member).release(epoch, number);
          return;
        }
        member(member).commit(epoch, number, decision.token(), mine);
        lock.lock();
        try {
          delivered(member, decision.token());
        } finally {
          lock.unlock();
        }
      });
    }
  }

  /// The stream address up to which all decisions are delivered.
  private long behind() {
    lock.lock();
    try {
      return undelivered.isEmpty() ? lastDecision : undelivered.firstKey() - 1;
    } finally {
      lock.unlock();
    }
  }
}
