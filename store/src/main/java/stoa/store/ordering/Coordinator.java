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
import stoa.log.BatchLog;
import stoa.log.StoredEntry;
import stoa.log.Token;

/// Gives several stores one [Addresses], and commits transactions over them. It is the sequencer of
/// vCorfu (section 3.2), and keeps soft state beside one of the stores, which is *home*. The server
/// that leads home is the coordinator. Thread-safe.
///
/// It commits transactions in rounds, each with all transactions that arrived during the one
/// before, and several rounds at a time. All stores that have a part in a round vote, and claim the
/// keys of its transactions. The transactions that every store accepts get addresses. Home logs
/// this decision with its own parts, which commits them (vCorfu, section 4.3). Then every store
/// logs its parts. The stores make batches of everything else meanwhile.
public final class Coordinator {
  /*
   * CommitProtocol decides. This class gives it events under a lock, and performs its actions
   * without, each call on a thread of its own.
   *
   * Invariants:
   * (1) The protocol knows that a decision is logged before a reader of home sees it: an address
   *     that is given afterwards lies behind it.
   * (2) The coordinator gives no address while another server may be the coordinator: it asks
   *     home's log first.
   * (3) No reader begins in front of the horizon, except at an address that it has pinned. A reader
   *     of the present in a store has pinned that store's present before it asks for the address
   *     here: a later search for the horizon sees the pin, and after an earlier one the reader gets
   *     an address behind the horizon. Transactions and snapshots are pinned in the store where
   *     they begin, named snapshots at home.
   */

  /// One of the stores, on whichever server leads it. A failed call may have had its effect.
  public interface Member {
    /// Lets the store vote on its parts of transactions, and claims their keys until this round is
    /// over.
    ///
    /// @param term the term of the owner that the coordinator knows: an earlier owner lacks later
    ///   decisions
    /// @param round greater than that of every earlier round
    /// @return the vote on each part
    /// @throws Unavailable when the store does not answer, has another owner, or is in another
    ///   epoch
    List<Vote> hold(long epoch, long term, long round, List<Part> parts);

    /// Logs the committed parts of a round, and does not wait until the store has executed them.
    ///
    /// @param committed the parts, by the offset of their transaction in the token
    void commit(long epoch, long round, Token token, SortedMap<Integer, Part> committed);

    /// Ends the claims of a round.
    void release(long epoch, long round);

    /// Lets the store log decisions, and ends the claims of this round and earlier ones, unless the
    /// store has voted in a later one.
    ///
    /// @return the term of its owner
    long adopt(long round, Addresses.Adopted adopted);

    /// Returns the least log counter at which a reader reads in the store; [Long#MAX_VALUE] when
    /// there is no reader.
    ///
    /// @param horizon the counter in front of which no later reader reads in any store
    /// @throws Unavailable when the store does not answer
    long held(long horizon);
  }

  /// The store beside which the coordinator runs. It keeps the decisions.
  public interface Home extends Member {
    /// Returns the term of its owner.
    long term();

    /// Visits the entries that [#append] and [#commit] have logged, in order.
    void scan(Predicate<StoredEntry> visitor);

    /// Logs an entry, and waits until it is durable.
    void append(byte[] entry);

    /// Commits like [#commit(long, long, Token, SortedMap)], together with the entry of the
    /// decision.
    ///
    /// @param logged gets the entry's address when the decision is durable, before any reader sees
    ///   it; must not block
    void commit(
        long epoch,
        long round,
        Token token,
        SortedMap<Integer, Part> committed,
        byte[] decision,
        LongConsumer logged);

    /// Drops the entries in front of an address.
    void forget(long before);

    /// Returns the log counter up to which everything is committed.
    long moment();

    /// Checks that the store is open, its log has not failed, and this server leads it.
    ///
    /// @throws Unavailable when its log has failed, or another server may lead it
    void checkUsable();

    /// Returns whether its log has failed.
    boolean hasFailed();
  }

  /// The part of a transaction in one store, by the name under which the store knows it.
  ///
  /// @param session the session that runs the transaction
  /// @param number the number of the transaction in that session
  public record Part(long session, long number) {}

  private static final Logger LOG = LoggerFactory.getLogger(Coordinator.class);

  // The time after the beginning before the stores release entries by themselves: clients repeat
  // their pins meanwhile.
  private static final long FIRST_LOOK_MICROS = 30_000_000;

  // How long a reader waits until its store has logged what was decided before.
  private static final long DELIVERY_MICROS_MAX = 10_000_000;

  private static final long LOOK_MICROS = 1_000_000;

  // The pause after a store has not answered: it may run an earlier program, which closes its
  // connection when it gets an unknown question.
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

  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile long nextLook;

  // No reader reads in front of this counter in any store.
  private volatile long horizon;

  /// @param home the number of the store beside which the coordinator runs
  /// @param members the other stores, by their numbers
  /// @param threads the threads on which it waits for stores
  public Coordinator(int home, Map<Integer, Member> members, Executor threads, Clock clock) {
    this.members = new TreeMap<>(members); // not in an order that each process has for itself
    this.threads = threads;
    this.clock = clock;
    this.protocol = new CommitProtocol(home, this.members.keySet());
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  /// Handles an event; returns the actions that follow from it.
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

  /// Returns the order with which the caller opens home; [#begin] comes after that.
  public Addresses home() {
    return new Addresses() {
      @Override
      public Adopted adopt(long term, BatchLog.Tail tail) {
        return locked(() -> protocol.adoptHome(tail.epoch(), tail.counter()));
      }

      @Override
      public long reserve(long term, int count, long logged) {
        return give(() -> {}, count, CommitProtocol.AHEAD_MAX);
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

  /// Begins, when home is open, and takes over the decisions of earlier coordinators.
  public void begin(Home opened) {
    var found = new TreeMap<Long, Decision>();
    opened.scan(entry -> {
      Decision decision = Decision.parse(entry.payload());
      if (decision != null) found.put(entry.address(), decision);
      return true;
    });
    // The coordinator gives no address before home has logged an entry in this epoch.
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

  /// Tells the owners that do not know this coordinator about it, and gives up transactions that
  /// have waited for too long. The caller must call this regularly.
  public void tick() {
    handle(new CommitProtocol.Event.Ticked(clock.nowMicros()));
    if (isToLook()) threads.execute(this::look);
  }

  /// Returns whether it is time to search for the horizon, once in a while. The first search comes
  /// late: a client that holds a pin here, and was connected to an earlier coordinator, has time to
  /// repeat it.
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

  /// Returns the order of another store than home.
  public Addresses of(int member) {
    return new Addresses() {
      @Override
      public Adopted adopt(long term, BatchLog.Tail tail) {
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
      public long reserve(long term, int count, long logged) {
        if (!locked(() -> protocol.knows(member, term))) {
          tick();
          throw new Unavailable("store " + member + " is to be told of its coordinator first");
        }
        var _ = confirmed();
        Runnable check =
            () -> {
              if (protocol.owes(member, logged, Long.MAX_VALUE)) {
                throw new Unavailable("store " + member + " has to log a decision first");
              }
            };
        return give(check, count, CommitProtocol.AHEAD_OTHERS_MAX);
      }

      @Override
      public long moment() {
        var _ = confirmed();
        lock.lock();
        try {
          long last = protocol.last();
          long end = clock.nowMicros() + DELIVERY_MICROS_MAX;
          while (protocol.owes(member, 0, last)) {
            protocol.checkSound();
            if (clock.nowMicros() > end) {
              throw new Unavailable("store " + member + " does not log what was decided");
            }
            decided.awaitUninterruptibly();
          }
          return last;
        } finally {
          lock.unlock();
        }
      }

      @Override
      public long horizon() {
        return leastHeld();
      }
    };
  }

  /// Returns the last address that was given.
  private long last() {
    var _ = confirmed();
    return locked(protocol::last);
  }

  /// Returns home when no other server can be the coordinator.
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

  private long give(Runnable check, int count, long aheadMax) {
    boolean raise;
    long before;
    lock.lock();
    try {
      check.run();
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

  /// Lets home log an entry, so that more addresses can be given.
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

  // ---- the horizon

  /// Returns the least log counter at which a reader reads in any store, or will read: a reader
  /// that asks for the present after this has begun gets no lesser one.
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
        away = new Unavailable("a group does not say which log address it reads at", failed);
      }
    }
    if (away != null) throw away;
    return least;
  }

  private Home here() {
    return locked(() -> Objects.requireNonNull(home));
  }

  /// Finds the horizon up to which the stores may release entries, and tells it with the next
  /// search.
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
  /// @param id the name of the transaction: a second submission does not commit it again
  /// @param parts its parts, by the numbers of the stores
  /// @return its log address; fails with [stoa.Aborted] when a key that it read or wrote has
  ///   changed, with [Unavailable] when nothing was written, and with [UnknownOutcome] when the
  ///   next coordinator knows the outcome
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
    if (all) go();
    else tick();
    return outcome;
  }

  /// Begins the rounds that can begin.
  private void go() {
    List<CommitProtocol.Action> begun;
    do {
      begun = on(new CommitProtocol.Event.Go(clock.nowMicros()));
      perform(begun);
    } while (!begun.isEmpty());
  }

  private void handle(CommitProtocol.Event event) {
    perform(on(event));
    go();
  }

  // ---- actions

  private void perform(List<CommitProtocol.Action> actions) {
    actions.forEach(this::perform);
  }

  private void perform(CommitProtocol.Action action) {
    switch (action) {
      case CommitProtocol.Action.Call call -> begin(() -> make(call));
      case CommitProtocol.Action.Log log -> begin(() -> log(log));
      case CommitProtocol.Action.Forget(long before) -> begin(() -> forget(before));
      case CommitProtocol.Action.Tell tell -> begin(() -> tell(tell));
      case CommitProtocol.Action.Commit(UUID id, LogAddress at) -> outcome(id).complete(at);
      case CommitProtocol.Action.Refuse(UUID id, RuntimeException cause) ->
          outcome(id).completeExceptionally(cause);
    }
  }

  /// Performs an action on a thread of its own. If that fails, no store knows the outcome of what
  /// is under way.
  private void begin(Runnable action) {
    threads.execute(() -> {
      try {
        action.run();
      } catch (Unavailable elsewhere) {
        LOG.info("home is led from here no more: {}", elsewhere.getMessage());
        perform(on(new CommitProtocol.Event.Failed(elsewhere)));
      } catch (RuntimeException | Error failed) {
        perform(on(new CommitProtocol.Event.Failed(failed)));
        throw failed;
      }
    });
  }

  private CompletableFuture<LogAddress> outcome(UUID id) {
    return locked(() ->
        Objects.requireNonNull(outcomes.remove(id), "a transaction is told its outcome once"));
  }

  /// Calls a store.
  private void make(CommitProtocol.Action.Call call) {
    CommitProtocol.Event event;
    try {
      event = call(call, member(call.member()));
    } catch (RuntimeException | Error failed) {
      LOG.debug("store {} is not there", call.member(), failed);
      event =
          call instanceof CommitProtocol.Action.Hold hold
              ? new CommitProtocol.Event.Voted(hold.round(), hold.member(), null)
              : new CommitProtocol.Event.Lost(call.round(), call.member(), call.changes());
    }
    handle(event);
  }

  private CommitProtocol.Event call(CommitProtocol.Action.Call call, Member member) {
    long epoch = locked(protocol::epoch);
    return switch (call) {
      case CommitProtocol.Action.Hold hold -> {
        long term = member instanceof Home here ? here.term() : hold.term();
        List<Vote> votes = member.hold(epoch, term, hold.round(), hold.parts());
        yield new CommitProtocol.Event.Voted(hold.round(), hold.member(), votes);
      }
      case CommitProtocol.Action.Deliver deliver -> {
        member.commit(epoch, deliver.round(), deliver.token(), deliver.parts());
        yield new CommitProtocol.Event.Delivered(
            deliver.round(), deliver.member(), deliver.token());
      }
      case CommitProtocol.Action.Release release -> {
        member.release(epoch, release.round());
        yield new CommitProtocol.Event.Released(release.round(), release.member());
      }
    };
  }

  /// Logs a decision at home. Once it is durable, this tells the other stores, before home executes
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
                var next = on(new CommitProtocol.Event.Logged(log.round(), address));
                begin(() -> {
                  go(); // votes before parts: a vote appends nothing
                  perform(next);
                });
              });
    } catch (RuntimeException failed) {
      if (!logged[0]) {
        if (here().hasFailed()) throw failed;
        // For instance, home's log is full.
        handle(new CommitProtocol.Event.NotLogged(log.round(), failed));
        return;
      }
    }
    handle(new CommitProtocol.Event.Executed(log.round()));
  }

  /// Drops old decisions. If that fails now, a later call drops them.
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
    handle(new CommitProtocol.Event.Told(tell.member(), tell.changes(), logged, term));
  }

  private Member member(int number) {
    return number == protocol.home()
        ? here()
        : Objects.requireNonNull(members.get(number), "a store that is there");
  }
}
