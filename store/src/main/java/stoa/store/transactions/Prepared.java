package stoa.store.transactions;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Entry;
import stoa.log.Token;
import stoa.store.batches.BatchLeader;
import stoa.store.batches.Intake;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Vote;
import stoa.store.running.CommitRequest;
import stoa.store.running.NoteRequest;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;

/// A store that is prepared for a round of transactions which several stores with one [Addresses]
/// commit together. It logs nothing else until the round is over.
///
/// Each store that has a part in the round votes on each transaction. The coordinator then gives
/// addresses to the transactions that every store accepts, logs that they are committed, and each
/// store logs its parts. A vote stands until the round is over. One owner uses an instance at a
/// time.
public final class Prepared implements AutoCloseable {
  private final BatchLeader leader;
  private final Intake intake;
  private final Map<StoreTransaction, CommitRequest> ready = new LinkedHashMap<>();
  private final Map<StoreTransaction, CommitRequest> chosen = new LinkedHashMap<>();

  // The transactions that have read and written nothing here.
  private final Set<StoreTransaction> untouched = new HashSet<>();

  private final Set<StreamId> written = new HashSet<>();
  private boolean over;

  /// @param intake an intake under a hold
  public Prepared(BatchLeader leader, Intake intake) {
    this.leader = leader;
    this.intake = intake;
  }

  /// Votes on a transaction. From now on no caller can use the transaction; a close takes effect
  /// when the round is over.
  public Vote examine(StoreTransaction transaction) {
    Check.that(!over && !ready.containsKey(transaction), "a transaction is examined once");
    Set<StreamId> own = transaction.streams();
    for (StreamId stream : own) {
      if (written.contains(stream)) return new Vote.Later();
    }
    if (!transaction.hold()) {
      return new Vote.No(new Unavailable("the transaction has ended; begin another"));
    }
    if (own.isEmpty()) {
      untouched.add(transaction);
      return new Vote.Yes(List.of());
    }
    CommitRequest request;
    try {
      request = leader.across(transaction);
    } catch (RuntimeException full) {
      transaction.letGo();
      return new Vote.No(full);
    }
    try {
      List<Entry> entries = intake.sketch(request);
      ready.put(transaction, request);
      for (Entry entry : entries) written.add(entry.stream());
      return new Vote.Yes(entries);
    } catch (RuntimeException refusal) {
      request.fail(refusal);
      transaction.letGo();
      return new Vote.No(refusal instanceof Aborted lost ? transaction.told(lost) : refusal);
    }
  }

  /// Logs the parts of committed transactions, gives up the others, and ends the hold. When this
  /// returns, the parts are durable.
  ///
  /// @param token the addresses of all transactions that commit together
  /// @param committed the transactions of this store, by their offset in the token
  public void commit(Token token, SortedMap<Integer, StoreTransaction> committed) {
    commit(token, committed, null);
  }

  /// Logs the parts like [#commit(Token, SortedMap)], together with the entry that commits them.
  ///
  /// @param key the key that gets the entry, as by [Store#append]
  /// @return the entry's stream address
  public long commit(
      Token token, SortedMap<Integer, StoreTransaction> committed, Key key, byte[] entry) {
    NoteRequest note = leader.noted(key, entry);
    commit(token, committed, note);
    return note.number();
  }

  private void commit(
      Token token, SortedMap<Integer, StoreTransaction> committed, @Nullable NoteRequest note) {
    Check.that(!over, "what is held is committed once");
    var writing = new TreeMap<Integer, CommitRequest>();
    committed.forEach((offset, transaction) -> {
      if (untouched.contains(transaction)) return;
      CommitRequest request = ready.remove(transaction);
      if (request == null) throw new IllegalStateException("what is committed was not examined");
      chosen.put(transaction, request);
      if (!transaction.writes()) request.complete(null);
      else writing.put(offset, request);
    });
    boolean logs = note != null || !writing.isEmpty();
    try {
      if (logs) intake.commit(token, writing, note);
    } finally {
      close();
    }
    if (logs) intake.checkSound();
  }

  /// Waits until the store has executed the committed parts, except those behind calls that wait
  /// for other stores. The store executes the latter after these calls, and questions wait for
  /// them.
  public void awaitExecuted() {
    chosen.forEach((transaction, request) -> {
      if (leader.awaitHere(transaction, request)) transaction.committed();
      else request.whenDone(_ -> transaction.committed());
    });
    for (Request request : chosen.values()) if (request.isDone()) request.check();
  }

  /// Ends the hold in a new epoch.
  ///
  /// @param adopted the decisions that this store's log may lack
  public void adopt(Addresses.Adopted adopted) {
    try {
      intake.adopt(adopted);
    } finally {
      close();
    }
  }

  /// Gives up the transactions that are not committed, and ends the hold. A second call does
  /// nothing.
  @Override
  public void close() {
    if (over) return;
    over = true;
    var cause = new Unavailable("the transaction was given up by another store");
    ready.forEach((transaction, request) -> {
      request.fail(cause);
      transaction.letGo();
    });
    untouched.forEach(StoreTransaction::letGo);
    intake.letGo();
  }
}
