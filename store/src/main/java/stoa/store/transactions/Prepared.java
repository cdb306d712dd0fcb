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
/// commit together: it logs nothing else until the round is over.
///
/// Each store that has a part in the round votes on each transaction. The coordinator then gives
/// addresses to the transactions against which no store has voted, logs that they are committed,
/// and each store logs its parts. A vote stands until the store is let go. One owner at a time.
public final class Prepared implements AutoCloseable {
  private final BatchLeader leader;
  private final Intake intake;
  private final Map<StoreTransaction, CommitRequest> ready = new LinkedHashMap<>();
  private final Map<StoreTransaction, CommitRequest> chosen = new LinkedHashMap<>();

  /// Those that have read and written nothing here.
  private final Set<StoreTransaction> untouched = new HashSet<>();

  private final Set<StreamId> written = new HashSet<>();
  private boolean over;

  /// @param intake is held
  public Prepared(BatchLeader leader, Intake intake) {
    this.leader = leader;
    this.intake = intake;
  }

  /// Votes on a transaction. No caller may use the transaction any more; closing it takes effect
  /// when this is over.
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

  /// Logs the parts of transactions that are committed; the others are given up, and the store goes
  /// on. When this returns, the parts are durable.
  ///
  /// @param token the addresses of all transactions that are committed together
  /// @param committed of this store, by their offset in the token
  public void commit(Token token, SortedMap<Integer, StoreTransaction> committed) {
    commit(token, committed, null);
  }

  /// As [#commit(Token, SortedMap)], with an entry that says of what is committed, and makes it so.
  ///
  /// @param key to which the entry is added, as by [Store#append]
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
      if (transaction.identity() == null) request.complete(null);
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

  /// Waits until what was committed is executed, but for what is behind calls that wait for other
  /// stores: that is executed after them, and questions wait for it.
  public void awaitExecuted() {
    chosen.forEach((transaction, request) -> {
      if (leader.awaitHere(transaction, request)) transaction.committed();
      else request.whenDone(_ -> transaction.committed());
    });
    for (Request request : chosen.values()) if (request.isDone()) request.check();
  }

  /// Lets the store go on, in a new epoch.
  ///
  /// @param adopted with what is decided of this store, and need not be in its log
  public void adopt(Addresses.Adopted adopted) {
    try {
      intake.adopt(adopted);
    } finally {
      close();
    }
  }

  /// Gives up what is not committed, and lets the store go on. Does nothing when that was done.
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
