package stoa.migration;

import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.DeadlineExceeded;
import stoa.Placement;
import stoa.StoaException;
import stoa.TransactionAction;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.front.PlacedStore;
import stoa.front.types.SharedMethod;

/// Lends objects of the store, beside the root, to clients that borrow them, and takes them back
/// ([stoa.View.Client]). Thread-safe.
///
/// Whether an object is lent is part of its state in the store, which then refuses all other calls
/// on it, in the order of the log. This class knows only who borrows it.
final class Lender implements Auto {
  /*
   * (1) The store says that an object is lent before the first asker learns that. The store takes
   *     the object back only after the root holds it, and after the results of all calls on it are
   *     durable. So no call executes at both sides.
   * (2) `lent` and `held` change under `changing`. `lent` is the side that the askers know. The
   *     store may say that an object is lent while `lent` is false, because an earlier root has lent
   *     the object. A call that meets such an object makes `settle` ask the store. An object that
   *     the root holds, and that the store has not taken back, counts as lent. The next step moves
   *     it, either to the server or to a client.
   * (3) While an object that the root has had is at the server, the root holds it by `held`, so that
   *     no member gets an old copy. The root has no copy of an object that was never lent, or of
   *     which the lender has no loan any more, and loads none.
   * (4) Beyond `LOANS_MAX`, the lender gives up the loans of objects at the server that no member
   *     asks for, those first that were asked for the longest time ago. No caller that has waited
   *     for `changing` uses a loan that is `over`.
   */
  private static final class Loan {
    private final PlacedObject object;
    private final ReentrantLock changing = new ReentrantLock();
    private final Set<Domain.Watcher> watchers = ConcurrentHashMap.newKeySet();
    private final Set<Domain.Watcher> askers = ConcurrentHashMap.newKeySet();
    private volatile boolean lent;
    private volatile boolean deleted;
    private boolean over; // guarded by changing
    private volatile Member.@Nullable RootHold held; // changes under changing
    // When a member last asked for the object.
    private volatile long askedNanos;
    private volatile boolean returning;

    private Loan(PlacedObject object) {
      this.object = object;
    }

    private boolean isAsked() {
      return !askers.isEmpty() && !deleted;
    }

    /* Tells one asker that the object is lent, if it is, after all earlier messages to it. */
    private boolean tellLent(Domain.Watcher asker) {
      synchronized (watchers) {
        if (lent) asker.side(object.stream(), false);
        return lent;
      }
    }

    private void tell(boolean atServer) {
      synchronized (watchers) {
        lent = !atServer;
        watchers.forEach(each -> each.side(object.stream(), atServer));
      }
    }
  }

  // How long an object without borrowers stays: another one may come, or return after a change of
  // roots.
  private static final long STAY_NANOS = TimeUnit.SECONDS.toNanos(1);

  // The most loans that stay although no member asks for their objects.
  private static final int LOANS_MAX = 100_000;

  private static final Logger LOG = LoggerFactory.getLogger(Lender.class);

  private final PlacedStore store;
  private final Timing timing;
  private final RootStore rootStore;
  private final Member root;
  private final Map<StreamId, Loan> loans = new ConcurrentHashMap<>();
  // Whether a thread gives up loans.
  private volatile boolean givingUp;

  /// Creates it.
  ///
  /// @param root the root of the tree
  Lender(PlacedStore store, RootStore rootStore, Member root) {
    this.store = store;
    timing = store.timing();
    this.rootStore = rootStore;
    this.root = root;
  }

  /// Returns whether an object may be lent.
  boolean lends(PlacedObject object) {
    return store.placement(object) == Placement.SERVER;
  }

  private Loan loan(PlacedObject object) {
    return loans.computeIfAbsent(object.stream(), _ -> new Loan(object));
  }

  @Override
  public @Nullable Object call(
      PlacedObject object,
      SharedMethod method,
      @Nullable Object[] arguments,
      Member caller,
      InTree inTree)
      throws Throwable {
    long end = timing.nanoTime() + store.limits().callTimeMax().toNanos();
    while (true) {
      watch(object, caller.watcher());
      try {
        if (!caller.isAtServer(object.stream())) return inTree.call(new Meter(false));
        return store.call(object, method, arguments);
      } catch (Seat.AtServer atServer) {
        // It has gone there meanwhile.
      } catch (PlacedObjects.LentToClients lent) {
        boolean _ = settle(object);
        caller.hear();
      }
      if (timing.nanoTime() - end > 0) {
        throw new DeadlineExceeded(
            object + " went from one side to the other for " + store.limits().callTimeMax());
      }
    }
  }

  // ---- watching

  /// Tells a watcher the side of an object: now, if it is at clients, and at every change.
  void watch(PlacedObject object, Domain.Watcher watcher) {
    Loan loan = loan(object);
    if (loan.watchers.contains(watcher)) return;
    synchronized (loan.watchers) {
      if (loan.watchers.add(watcher) && loan.lent) watcher.side(object.stream(), false);
    }
  }

  /// Ends all watching of a watcher that borrows nothing.
  void unwatch(Domain.Watcher watcher) {
    for (var loan : loans.values()) {
      loan.watchers.remove(watcher);
      loan.askers.remove(watcher);
    }
  }

  // ---- borrowing

  /// Lends an object, unless it is lent, and tells this asker; it stays lent while the asker
  /// borrows it.
  ///
  /// @throws IllegalArgumentException when there is no such object
  /// @throws stoa.LimitExceeded when its state is too large to travel
  void borrow(PlacedObject object, Domain.Watcher asker) {
    while (!isLent(loan(object), asker)) {
      // The loan was given up, or the object was deleted meanwhile, and is perhaps there again.
    }
  }

  private boolean isLent(Loan loan, Domain.Watcher asker) {
    loan.askers.add(asker);
    loan.askedNanos = timing.nanoTime();
    try {
      return toClients(loan) && loan.tellLent(asker);
    } catch (RuntimeException refused) {
      loan.askers.remove(asker);
      throw refused;
    }
  }

  /// Ends an asker's borrowing.
  void letGo(StreamId object, Domain.Watcher asker) {
    Loan loan = loans.get(object);
    if (loan == null) return;
    loan.askedNanos = timing.nanoTime();
    loan.askers.remove(asker);
  }

  /// Gives an object that others borrow, too, to a caller that waits for it in the tree. May take
  /// long.
  void moveToClients(StreamId object) {
    Loan loan = loans.get(object);
    if (loan != null && loan.isAsked()) {
      boolean _ = toClients(loan);
    }
  }

  /* Returns false, without effect, when the loan was given up. */
  private boolean toClients(Loan loan) {
    loan.changing.lock();
    try {
      if (loan.over) return false;
      if (loan.lent && loan.held == null && !loan.deleted) return true;
      if (loan.deleted) end(loan);
      if (!store.isLent(loan.object)) store.lend(loan.object);
      open(loan);
      return true;
    } finally {
      loan.changing.unlock();
    }
  }

  /* Does some work with the loan of an object, locked; returns what the work returns. */
  private boolean changing(PlacedObject object, Predicate<Loan> work) {
    while (true) {
      Loan loan = loan(object);
      loan.changing.lock();
      try {
        if (!loan.over) return work.test(loan);
      } finally {
        loan.changing.unlock();
      }
    }
  }

  /* The store says that it is lent: lets the tree have it. */
  private void open(Loan loan) {
    var held = loan.held;
    if (held != null) {
      root.release(held, store.load(loan.object));
      loan.held = null;
    }
    rootStore.lend(loan.object);
    loan.tell(false);
  }

  /// Finds out the side of an object that a caller met at the other: it may be changing sides now,
  /// or another root has lent it before.
  ///
  /// @return whether it is lent
  boolean settle(PlacedObject object) {
    return changing(object, this::settle);
  }

  private boolean settle(Loan loan) {
    if (loan.lent) return true;
    if (!store.isLent(loan.object)) return false;
    loan.askedNanos = timing.nanoTime();
    open(loan);
    return true;
  }

  // ---- returning

  /// Takes back objects without borrowers, and gives up loans. Quick.
  void tick() {
    if (loans.size() > LOANS_MAX && !givingUp) {
      givingUp = true;
      timing.start(() -> giveUp(LOANS_MAX));
    }
    for (var loan : loans.values()) {
      if (!loan.lent || loan.returning) continue;
      boolean stays = loan.isAsked() || timing.nanoTime() - loan.askedNanos < STAY_NANOS;
      if (stays && loan.held == null) continue;
      loan.returning = true;
      timing.start(() -> takeBack(loan));
    }
  }

  /// Gives up loans of objects at the server that no member asks for.
  ///
  /// @param most how many loans may stay
  void giveUp(int most) {
    try {
      record Idle(Loan loan, long askedNanos) {}
      loans.values().stream()
          .filter(Lender::isIdle)
          .map(loan -> new Idle(loan, loan.askedNanos))
          .sorted(Comparator.comparingLong(Idle::askedNanos))
          .limit(Math.max(0, loans.size() - most))
          .forEach(each -> giveUp(each.loan));
    } finally {
      givingUp = false;
    }
  }

  private static boolean isIdle(Loan loan) {
    return !loan.lent && !loan.isAsked() && !loan.returning;
  }

  /* The members that only watch the object believe that it is at the server, as they should. */
  private void giveUp(Loan loan) {
    loan.changing.lock();
    try {
      if (!isIdle(loan)) return;
      var held = loan.held;
      if (held != null) {
        rootStore.takenBack(loan.object);
        root.forget(held);
      }
      loan.over = true;
      loans.remove(loan.object.stream(), loan);
    } finally {
      loan.changing.unlock();
    }
  }

  private void takeBack(Loan loan) {
    try {
      toServer(loan);
    } catch (StoaException later) {
      loan.askedNanos = timing.nanoTime();
      LOG.debug("{} stays at the clients: {}", loan.object, later.getMessage());
    } finally {
      loan.returning = false;
    }
  }

  private void toServer(Loan loan) {
    loan.changing.lock();
    try {
      if (!loan.lent) return;
      if (loan.deleted) {
        end(loan);
      } else if (!loan.isAsked()) {
        back(loan);
      } else {
        boolean _ = toClients(loan); // a member asked again when it was halfway
      }
    } finally {
      loan.changing.unlock();
    }
  }

  private void hold(Loan loan) {
    if (loan.held == null) loan.held = root.hold(loan.object);
  }

  private void back(Loan loan) {
    hold(loan);
    store.takeBack(loan.object);
    loan.tell(true);
  }

  /// Brings an object to a side, whether it is borrowed or not.
  void move(Object shared, boolean toServer) {
    boolean _ =
        changing(
            store.object(shared),
            loan -> {
              if (!toServer) return toClients(loan);
              if (loan.lent) back(loan);
              return true;
            });
  }

  /// Returns how many loans there are.
  int loans() {
    return loans.size();
  }

  /// Returns whether an object may be lent.
  boolean isKnown(StreamId object) {
    return loans.containsKey(object);
  }

  /// Records that the store has deleted an object. No client calls it when this returns.
  void deleted(PlacedObject object) {
    Loan loan = loans.get(object.stream());
    if (loan == null) return;
    loan.changing.lock();
    try {
      if (!loan.lent) return;
      loan.deleted = true;
      end(loan);
    } finally {
      loan.changing.unlock();
    }
  }

  /* Takes a deleted object from the clients. */
  private void end(Loan loan) {
    hold(loan);
    loan.deleted = false;
    loan.tell(true);
  }

  @Override
  public <X extends Exception> void inTree(
      Collection<PlacedObject> objects, TransactionAction<X> body) throws X {
    body.run(); // who waits for an object that is at the server asks for it, see Seat
  }
}
