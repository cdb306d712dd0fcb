package stoa.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.log.StoredEntry;
import stoa.log.Token;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.ordering.Decision;
import stoa.store.ordering.Vote;
import stoa.store.running.StoreTransaction;
import stoa.store.transactions.Prepared;

/// A store over which a [Coordinator] commits transactions, on the server that leads the store.
/// Thread-safe.
public final class Participant implements Coordinator.Home {
  /*
   * Invariants:
   * (1) The store is under a hold while `held` is set, for the last round that this knows.
   * (2) A late or repeated request of a round that is over changes nothing.
   */
  private final Store store;
  private final Function<Coordinator.Part, @Nullable StoreTransaction> transactions;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private @Nullable Prepared held;
  private Map<Coordinator.Part, StoreTransaction> examined = Map.of();
  private long last;

  /// @param transactions returns the open part of a transaction, null when it is not open here
  public Participant(
      Store store, Function<Coordinator.Part, @Nullable StoreTransaction> transactions) {
    this.store = store;
    this.transactions = transactions;
  }

  @Override
  public List<Vote> hold(long epoch, long term, long round, List<Coordinator.Part> parts) {
    lock.lock();
    try {
      if (term != store.term()) {
        throw new Unavailable("the store has the owner of term " + store.term() + " here");
      }
      if (epoch != store.epoch()) {
        throw new Unavailable("the store is in epoch " + store.epoch() + ", not in " + epoch);
      }
      if (round <= last) throw new Unavailable("round " + round + " is over");
      last = round;
      letGo();
      Prepared holding = store.hold();
      held = holding;
      examined = new HashMap<>();
      var verdicts = new ArrayList<Vote>(parts.size());
      for (Coordinator.Part part : parts) {
        StoreTransaction transaction = transactions.apply(part);
        if (transaction != null) examined.put(part, transaction);
        verdicts.add(
            transaction == null
                ? new Vote.No(
                    new Unavailable(
                        "the transaction has ended at one of the servers; begin another"))
                : holding.examine(transaction));
      }
      return verdicts;
    } finally {
      lock.unlock();
    }
  }

  private void letGo() {
    Prepared before = held;
    held = null;
    if (before != null) before.close();
  }

  @Override
  public void commit(
      long epoch, long round, Token token, SortedMap<Integer, Coordinator.Part> committed) {
    Prepared holding;
    lock.lock();
    try {
      holding = holding(epoch, round);
      var open = open(committed);
      held = null;
      holding.commit(token, open);
    } finally {
      lock.unlock();
    }
    holding.awaitExecuted();
  }

  @Override
  public void commit(
      long epoch,
      long round,
      Token token,
      SortedMap<Integer, Coordinator.Part> committed,
      byte[] decision,
      LongConsumer logged) {
    Prepared holding;
    long address;
    lock.lock();
    try {
      holding = holding(epoch, round);
      var open = open(committed);
      held = null;
      address = holding.commit(token, open, Decision.KEY, decision);
    } finally {
      lock.unlock();
    }
    logged.accept(address);
    holding.awaitExecuted();
  }

  @Override
  public long held(long horizon) {
    store.raiseHorizon(horizon);
    long held = store.pins().least();
    store.checkUsable(); // another owner may have other pins
    return held;
  }

  @Override
  public long term() {
    return store.term();
  }

  @Override
  public void scan(Predicate<StoredEntry> visitor) {
    long oldest = store.engine().streams().oldest(Decision.KEY.stream());
    store.scan(Decision.KEY, Math.max(1, oldest), visitor);
  }

  @Override
  public void append(byte[] entry) {
    var _ = store.append(Decision.KEY, entry);
  }

  @Override
  public void forget(long before) {
    store.engine().streams().trim(Decision.KEY.stream(), before);
  }

  @Override
  public long moment() {
    return store.moment();
  }

  @Override
  public void checkUsable() {
    store.engine().health().checkOpen();
    store.checkUsable();
  }

  @Override
  public boolean hasFailed() {
    return store.hasFailed();
  }

  private Prepared holding(long epoch, long round) {
    Prepared holding = held;
    if (holding == null || round != last || epoch != store.epoch()) {
      throw new Unavailable("the store is not held by round " + round);
    }
    return holding;
  }

  private SortedMap<Integer, StoreTransaction> open(SortedMap<Integer, Coordinator.Part> parts) {
    var open = new TreeMap<Integer, StoreTransaction>();
    parts.forEach((offset, part) -> {
      open.put(
          offset, Objects.requireNonNull(examined.get(part), "what is committed was examined"));
    });
    return open;
  }

  @Override
  public void release(long epoch, long round) {
    lock.lock();
    try {
      if (epoch < store.epoch()) return;
      if (epoch > store.epoch()) {
        throw new Unavailable("the store is in epoch " + store.epoch() + ", not in " + epoch);
      }
      if (round >= last) {
        last = round; // it may arrive before the hold of its round
        letGo();
      }
      store.checkUsable(); // another owner may be the one that is held
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long adopt(long round, Addresses.Adopted adopted) {
    lock.lock();
    try {
      boolean newer = adopted.epoch() > store.epoch();
      if (newer || (adopted.epoch() == store.epoch() && round >= last)) {
        Prepared holding = held != null ? held : store.hold();
        held = null;
        last = round; // the coordinator has given up earlier rounds
        holding.adopt(adopted);
      }
      store.checkUsable(); // another owner may not know of it
      return store.term();
    } finally {
      lock.unlock();
    }
  }
}
