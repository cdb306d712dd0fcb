package stoa.store.ordering;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.log.ShardLog;
import stoa.log.StoredEntry;
import stoa.log.Token;

/// Gives several stores one [Addresses], and commits transactions over them: the sequencer of
/// vCorfu (section 3.2), which is soft state beside the store that is *home*. The server that leads
/// home is the coordinator. Thread-safe.
///
/// Transactions are committed in rounds of as many as have arrived meanwhile. All stores that have
/// a part in a round, and home, prepare and vote; the transactions against which no store has voted
/// get addresses; home logs that with their parts, which is the commit (vCorfu, section 4.3); then
/// every store logs its parts.
public final class Coordinator {
  /*
   * CommitProtocol decides; this class gives it events under a lock, and does its actions without.
   *
   * Invariants:
   * (1) One thread at a time runs rounds.
   * (2) Nothing is given when another server may be the coordinator: home's log is asked first.
   * (3) Nobody begins to read in front of the horizon, but at an address that he remembers. Who reads the present in
   *     a store has pinned that there before he asks for it here: he is seen by who looks for the horizon after, and
   *     otherwise is given an address behind it. Transactions and snapshots are pinned where they begin, the snapshots
   *     with names at home.
   */

  /// One of the stores, wherever it is led. What fails may have happened.
  public interface Member {
    /// Holds the store, and has it vote on its parts of transactions. It stays held until this
    /// round is over, or one with a higher number.
    ///
    /// @param term of the owner that is meant: an earlier one does not know what has changed since
    /// @param round above that of every earlier one
    /// @return the vote on each
    /// @throws Unavailable when it is not there, has another owner, or is in another epoch
    List<Vote> hold(long epoch, long term, long round, List<Part> parts);

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

  /// The store beside which the coordinator is. It keeps the decisions.
  public interface Home extends Member {
    /// The term of its owner.
    long term();

    /// Visits the entries that [#append] and [#commit] have logged, in order.
    void scan(Predicate<StoredEntry> visitor);

    /// Logs an entry, and waits until it is durable.
    void append(byte[] entry);

    /// As [#commit(long, long, Token, SortedMap)], with the entry that is the decision.
    ///
    /// @param logged is told the entry's address when the decision is durable, before home executes
    ///   its parts
    void commit(
        long epoch,
        long round,
        Token token,
        SortedMap<Integer, Part> committed,
        byte[] decision,
        LongConsumer logged);

    /// Drops the entries in front of an address.
    void forget(long before);

    /// The log counter up to which everything is committed.
    long moment();

    /// Refuses when the store is closed, its log has failed, or another server may lead it.
    ///
    /// @throws Unavailable when its log has failed, or another server may lead it
    void checkUsable();

    /// Whether its log has failed.
    boolean hasFailed();
  }

  /// What a transaction has to do with one store, by the name that the store knows it by.
  ///
  /// @param session the session that runs it
  /// @param number which one of that session
  public record Part(long session, long number) {}

  private static final Logger LOG = LoggerFactory.getLogger(Coordinator.class);

  /// So long after its beginning the stores release nothing by themselves: clients say again what
  /// they hold.
  private static final long FIRST_LOOK_MICROS = 30_000_000;

  private static final long LOOK_MICROS = 1_000_000;

  /// So long it does not look again when a store did not say: it may be one of an earlier program,
  /// which ends its line over a question that it does not know.
  private static final long LOOK_AGAIN_MICROS = 10_000_000;

  private final Map<Integer, Member> members;
  private final Executor threads;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition decided = lock.newCondition();

  // Guarded by lock.
  private final CommitProtocol protocol;
  private final Map<UUID, CompletableFuture<LogAddress>> outcomes = new HashMap<>();
  private @Nullable Home home;
  private boolean running;

  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile long nextLook;

  /// In front of it nobody reads in any store.
  private volatile long horizon;

  /// @param home the number of the store beside which this is
  /// @param members the others, by their numbers
  /// @param threads on which it waits for stores
  public Coordinator(int home, Map<Integer, Member> members, Executor threads, Clock clock) {
    this.members = new TreeMap<>(members); // not in an order that each process has for itself
    this.threads = threads;
    this.clock = clock;
    var schedule = CommitProtocol.Schedule.oneRoundAtATime();
    this.protocol = new CommitProtocol(home, this.members.keySet(), schedule);
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  /// Something happens; answers what is to be done.
  private List<CommitProtocol.Action> on(CommitProtocol.Event event) {
    lock.lock();
    try {
      var actions = protocol.on(event);
      decided.signalAll();
      return actions;
    } finally {
      lock.unlock();
    }
  }

  // ---- its beginning

  /// The order of the store that is home, with which that is opened; then comes [#begin].
  public Addresses home() {
    return new Addresses() {
      @Override
      public Adopted adopt(long term, ShardLog.Tail tail) {
        return locked(() -> protocol.adoptHome(tail.epoch(), tail.counter()));
      }

      @Override
      public long reserve(long term, int count) {
        return give(count, CommitProtocol.AHEAD_MAX);
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
  public void begin(Home opened) {
    var found = new TreeMap<Long, Decision>();
    opened.scan(entry -> {
      Decision decision = Decision.parse(entry.payload());
      if (decision != null) found.put(entry.address(), decision);
      return true;
    });
    // Nothing is given before home has logged in this epoch.
    opened.append(Decision.beginning());
    lock.lock();
    try {
      var _ = protocol.on(new CommitProtocol.Event.Begun(found));
      home = opened;
      nextLook = clock.nowMicros() + FIRST_LOOK_MICROS;
    } finally {
      lock.unlock();
    }
    tick();
  }

  /// To be called every now and then: tells the owners of stores of this coordinator that do not
  /// know, and gives up transactions that have waited for too long.
  public void tick() {
    perform(on(new CommitProtocol.Event.Ticked(clock.nowMicros())));
    if (isToLook()) threads.execute(this::look);
  }

  /// Whether it is time to look for the horizon, once in a while. Whoever holds something here, and
  /// was connected with an earlier coordinator, has time to say so again.
  private boolean isToLook() {
    if (!hasBegun()) return false;
    long now = clock.nowMicros();
    if (now < nextLook || !looking.compareAndSet(false, true)) return false;
    nextLook = now + LOOK_MICROS;
    return true;
  }

  private boolean hasBegun() {
    return locked(() -> home != null && !protocol.hasFailed());
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
          while (protocol.isDeciding(member)) decided.awaitUninterruptibly();
          return protocol.adopt(member, term, tail.counter());
        } finally {
          lock.unlock();
        }
      }

      @Override
      public long reserve(long term, int count) {
        if (!locked(() -> protocol.knows(member, term))) {
          tick();
          throw new Unavailable("store " + member + " is to be told of its coordinator first");
        }
        var _ = confirmed();
        run();
        return give(count, CommitProtocol.AHEAD_OTHERS_MAX);
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
    return locked(protocol::last);
  }

  /// Home, when nobody else can have been the coordinator.
  private Home confirmed() {
    Home opened;
    lock.lock();
    try {
      protocol.checkSound();
      opened = home;
    } finally {
      lock.unlock();
    }
    if (opened == null) throw new Unavailable("the coordinator of the stores has not begun");
    opened.checkUsable();
    return opened;
  }

  private long give(int count, long aheadMax) {
    boolean raise;
    long before;
    lock.lock();
    try {
      Home opened = home;
      long logged = opened == null ? -1 : opened.moment();
      before = protocol.give(count, logged, aheadMax);
      raise = protocol.mustRaise(logged);
    } finally {
      lock.unlock();
    }
    if (raise) threads.execute(this::raise);
    return before;
  }

  /// Has home log something, so that more addresses can be given.
  private void raise() {
    try {
      confirmed().append(Decision.beginning());
    } finally {
      lock.lock();
      try {
        protocol.raised();
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

  private Home here() {
    return locked(() -> Objects.requireNonNull(home));
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
  /// @param id its name: a second submission does not commit it again
  /// @param parts by the numbers of the stores
  /// @return its log address; fails with [stoa.Aborted] when a key that it read or wrote has
  ///   changed, with [Unavailable] when nothing was written, and with [UnknownOutcome] when the
  ///   next coordinator is to be asked
  public CompletableFuture<LogAddress> commit(UUID id, SortedMap<Integer, Part> parts) {
    var _ = confirmed();
    CompletableFuture<LogAddress> outcome;
    List<CommitProtocol.Action> actions;
    boolean all;
    lock.lock();
    try {
      CompletableFuture<LogAddress> known = outcomes.get(id);
      if (known != null) return known;
      var submitted = new CommitProtocol.Event.Submitted(id, parts, clock.nowMicros());
      actions = protocol.on(submitted);
      outcome = new CompletableFuture<>();
      outcomes.put(id, outcome);
      all = protocol.isReady(parts.keySet());
    } finally {
      lock.unlock();
    }
    perform(actions);
    if (!all) tick();
    run();
    return outcome;
  }

  /// Has a thread run rounds, unless one does.
  private void run() {
    lock.lock();
    try {
      if (running || !protocol.hasWaiting() || home == null) return;
      running = true;
    } finally {
      lock.unlock();
    }
    threads.execute(this::rounds);
  }

  private void rounds() {
    try {
      List<CommitProtocol.Action> begun = next();
      while (!begun.isEmpty()) {
        perform(begun);
        begun = next();
      }
    } catch (Unavailable elsewhere) {
      LOG.info("home is led from here no more: {}", elsewhere.getMessage());
      perform(on(new CommitProtocol.Event.Failed(elsewhere)));
    } catch (RuntimeException | Error failed) {
      perform(on(new CommitProtocol.Event.Failed(failed)));
      throw failed;
    }
  }

  /// Begins the next round; does nothing when there is none.
  private List<CommitProtocol.Action> next() {
    lock.lock();
    try {
      var actions = protocol.on(new CommitProtocol.Event.Go(clock.nowMicros()));
      running = !actions.isEmpty();
      return actions;
    } finally {
      lock.unlock();
    }
  }

  // ---- actions

  /// Does what is to be done, in order: calls of other stores that follow each other are made
  /// beside each other.
  private void perform(List<CommitProtocol.Action> actions) {
    var calls = new ArrayList<CommitProtocol.Action.Call>();
    for (CommitProtocol.Action action : actions) {
      if (action instanceof CommitProtocol.Action.Call call) {
        calls.add(call);
      } else {
        makeBeside(calls);
        calls.clear();
        perform(action);
      }
    }
    makeBeside(calls);
  }

  private void makeBeside(List<CommitProtocol.Action.Call> calls) {
    var made = new ArrayList<CompletableFuture<List<CommitProtocol.Action>>>(calls.size());
    for (var call : calls) {
      made.add(CompletableFuture.supplyAsync(() -> make(call), threads));
    }
    for (var one : made) perform(one.join());
  }

  /// Calls another store; answers what is to be done then.
  private List<CommitProtocol.Action> make(CommitProtocol.Action.Call call) {
    CommitProtocol.@Nullable Event event;
    try {
      event = call(call, member(call.member()));
    } catch (RuntimeException | Error failed) {
      LOG.debug("store {} is not there", call.member(), failed);
      event =
          call instanceof CommitProtocol.Action.Hold hold
              ? new CommitProtocol.Event.Voted(hold.round(), hold.member(), null)
              : new CommitProtocol.Event.Lost(call.member(), call.changes());
    }
    return event == null ? List.of() : on(event);
  }

  private CommitProtocol.@Nullable Event call(CommitProtocol.Action.Call call, Member member) {
    long epoch = locked(protocol::epoch);
    return switch (call) {
      case CommitProtocol.Action.Hold hold -> {
        List<Vote> votes = member.hold(epoch, hold.term(), hold.round(), hold.parts());
        yield new CommitProtocol.Event.Voted(hold.round(), hold.member(), votes);
      }
      case CommitProtocol.Action.Deliver deliver -> {
        member.commit(epoch, deliver.round(), deliver.token(), deliver.parts());
        yield new CommitProtocol.Event.Delivered(deliver.member(), deliver.token());
      }
      case CommitProtocol.Action.Release release -> {
        member.release(epoch, release.round());
        yield null;
      }
    };
  }

  private void perform(CommitProtocol.Action action) {
    switch (action) {
      case CommitProtocol.Action.Call call -> perform(make(call));
      case CommitProtocol.Action.HoldHome hold -> perform(hold(hold));
      case CommitProtocol.Action.Log log -> log(log);
      case CommitProtocol.Action.ReleaseHome(long round) ->
          here().release(locked(protocol::epoch), round);
      case CommitProtocol.Action.Forget(long before) -> forget(before);
      case CommitProtocol.Action.Tell tell -> threads.execute(() -> tell(tell));
      case CommitProtocol.Action.Commit(UUID id, LogAddress at) -> outcome(id).complete(at);
      case CommitProtocol.Action.Refuse(UUID id, RuntimeException cause) ->
          outcome(id).completeExceptionally(cause);
    }
  }

  private CompletableFuture<LogAddress> outcome(UUID id) {
    return locked(() ->
        Objects.requireNonNull(outcomes.remove(id), "a transaction is told its outcome once"));
  }

  private List<CommitProtocol.Action> hold(CommitProtocol.Action.HoldHome hold) {
    List<Vote> votes = null;
    try {
      Home here = here();
      votes = here.hold(locked(protocol::epoch), here.term(), hold.round(), hold.parts());
    } catch (RuntimeException notNow) {
      LOG.debug("home is not held up", notNow);
    }
    return on(new CommitProtocol.Event.Voted(hold.round(), protocol.home(), votes));
  }

  /// Logs a decision at home. Once it is durable, the other stores are told, before home executes
  /// its own parts.
  private void log(CommitProtocol.Action.Log log) {
    var logged = new boolean[1];
    try {
      here()
          .commit(
              locked(protocol::epoch),
              log.round(),
              log.decision().token(),
              log.parts(),
              log.decision().toBytes(),
              address -> {
                logged[0] = true;
                perform(on(new CommitProtocol.Event.Logged(log.round(), address)));
              });
    } catch (RuntimeException failed) {
      if (!logged[0]) {
        if (here().hasFailed()) throw failed;
        // Home's log takes no more, say.
        perform(on(new CommitProtocol.Event.NotLogged(log.round(), failed)));
        return;
      }
    }
    perform(on(new CommitProtocol.Event.Executed(log.round())));
  }

  /// Drops old decisions. If that is not possible now, it will be.
  private void forget(long before) {
    try {
      here().forget(before);
    } catch (RuntimeException later) {
      LOG.debug("old decisions stay for now", later);
    }
  }

  private void tell(CommitProtocol.Action.Tell tell) {
    long term = -1;
    try {
      term = member(tell.member()).adopt(tell.round(), tell.adopted());
    } catch (RuntimeException later) {
      LOG.debug("store {} is not there: {}", tell.member(), later.getMessage());
    }
    List<Addresses.Decided> logged = tell.adopted().decided();
    perform(on(new CommitProtocol.Event.Told(tell.member(), tell.changes(), logged, term)));
    run();
  }

  private Member member(int number) {
    return Objects.requireNonNull(members.get(number), "a store that is there");
  }
}
