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
import java.util.function.Supplier;
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
   * (1) The claims of a round stand while `held` has it.
   * (2) A late or repeated request of a round that is over changes nothing.
   * (3) The store votes, commits and adopts during a hold, in which no batch is in progress. Between
   *     these steps it makes batches of everything that is not claimed.
   */
  private final Store store;
  private final Function<Coordinator.Part, @Nullable StoreTransaction> transactions;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private final SortedMap<Long, Voted> held = new TreeMap<>();
  private long last;

  /// The votes of a round.
  private record Voted(Prepared prepared, Map<Coordinator.Part, StoreTransaction> examined) {}

  /// @param transactions returns the open part of a transaction, null when it is not open here
  public Participant(
      Store store, Function<Coordinator.Part, @Nullable StoreTransaction> transactions) {
    this.store = store;
    this.transactions = transactions;
  }

  /// Takes a step in which no batch is in progress.
  private <T> T step(Supplier<T> action) {
    store.hold();
    try {
      return locked(action);
    } finally {
      store.letGo();
    }
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<Vote> hold(long epoch, long term, long round, List<Coordinator.Part> parts) {
    check(epoch, term);
    return step(() -> {
      check(epoch, term);
      if (round <= last) throw new Unavailable("round " + round + " is over");
      last = round;
      var voted = new Voted(store.prepare(), new HashMap<>());
      held.put(round, voted);
      var verdicts = new ArrayList<Vote>(parts.size());
      for (Coordinator.Part part : parts) {
        StoreTransaction transaction = transactions.apply(part);
        if (transaction != null) voted.examined.put(part, transaction);
        verdicts.add(
            transaction == null
                ? new Vote.No(
                    new Unavailable(
                        "the transaction has ended at one of the servers; begin another"))
                : voted.prepared.examine(transaction));
      }
      return verdicts;
    });
  }

  private void check(long epoch, long term) {
    if (term != store.term()) {
      throw new Unavailable("the store has the owner of term " + store.term() + " here");
    }
    if (epoch != store.epoch()) {
      throw new Unavailable("the store is in epoch " + store.epoch() + ", not in " + epoch);
    }
  }

  @Override
  public void commit(
      long epoch, long round, Token token, SortedMap<Integer, Coordinator.Part> committed) {
    step(
            () -> {
              Voted voted = take(epoch, round);
              return voted.prepared.commit(token, open(voted, committed));
            })
        .endWhenExecuted();
  }

  @Override
  public void commit(
      long epoch,
      long round,
      Token token,
      SortedMap<Integer, Coordinator.Part> committed,
      byte[] decision,
      LongConsumer logged) {
    step(
            () -> {
              if (epoch != store.epoch())
                throw new Unavailable("home is in epoch " + store.epoch());
              // Home has not voted when it has no part.
              Voted voted =
                  committed.isEmpty() ? new Voted(store.prepare(), Map.of()) : take(epoch, round);
              return voted.prepared.commit(
                  token, open(voted, committed), Decision.KEY, decision, logged);
            })
        .awaitExecuted();
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

  private Voted take(long epoch, long round) {
    Voted voted = epoch == store.epoch() ? held.remove(round) : null;
    if (voted == null) throw new Unavailable("the store is not held by round " + round);
    return voted;
  }

  private static SortedMap<Integer, StoreTransaction> open(
      Voted voted, SortedMap<Integer, Coordinator.Part> parts) {
    var open = new TreeMap<Integer, StoreTransaction>();
    parts.forEach((offset, part) -> {
      open.put(
          offset,
          Objects.requireNonNull(voted.examined.get(part), "what is committed was examined"));
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
      last = Math.max(last, round); // it may arrive before the hold of its round
      Voted voted = held.remove(round);
      if (voted != null) voted.prepared.close();
      store.checkUsable(); // another owner may be the one that is held
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long adopt(long round, Addresses.Adopted adopted) {
    if (isNews(round, adopted)) {
      step(() -> {
        if (!isNews(round, adopted)) return false;
        try {
          store.adopt(adopted);
        } finally {
          last = round; // the coordinator has given up earlier rounds
          held.values().forEach(voted -> voted.prepared.close());
          held.clear();
        }
        return true;
      });
    }
    store.checkUsable(); // another owner may not know of it
    return store.term();
  }

  private boolean isNews(long round, Addresses.Adopted adopted) {
    return locked(() ->
        adopted.epoch() > store.epoch() || (adopted.epoch() == store.epoch() && round >= last));
  }
}
