package stoa.store.transactions;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Key;
import stoa.log.Entry;
import stoa.log.Token;
import stoa.store.batches.BatchWriter;
import stoa.store.batches.Intake;
import stoa.store.leading.Claims;
import stoa.store.ordering.Vote;
import stoa.store.running.CommitRequest;
import stoa.store.running.NoteRequest;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;

/// The transactions of one round for which a store has voted. Several stores with one [Addresses]
/// commit them together. Until the round is over, the store logs nothing else to the streams that
/// they have read or written.
///
/// Each store that has a part in the round votes on each transaction. The coordinator then gives
/// addresses to the transactions that every store accepts, logs that they are committed, and each
/// store logs its parts. A vote stands until the round is over. One owner uses an instance at a
/// time.
public final class Prepared {
  private final BatchWriter writer;
  private final Intake intake;
  private final Map<StoreTransaction, CommitRequest> ready = new LinkedHashMap<>();
  private final Map<StoreTransaction, Claims.Claim> claims = new HashMap<>();

  // The transactions that have read and written nothing here.
  private final Set<StoreTransaction> untouched = new HashSet<>();

  private boolean over;

  public Prepared(BatchWriter writer, Intake intake) {
    this.writer = writer;
    this.intake = intake;
  }

  /// Votes on a transaction, during a hold. From now on no caller can use the transaction; a close
  /// takes effect when the round is over.
  public Vote examine(StoreTransaction transaction) {
    Check.that(!over && !ready.containsKey(transaction), "a transaction is examined once");
    var claim = new Claims.Claim(transaction.read(), transaction.changed());
    if (!intake.claim(claim)) return new Vote.Later();
    Vote vote = judge(transaction, claim);
    if (!(vote instanceof Vote.Yes)) intake.release(claim);
    return vote;
  }

  private Vote judge(StoreTransaction transaction, Claims.Claim claim) {
    if (!transaction.hold()) {
      return new Vote.No(new Unavailable("the transaction has ended; begin another"));
    }
    // It does not wait for the other transaction, which must overtake it.
    if (intake.heldBack(transaction) instanceof Aborted heldBack) {
      transaction.letGo();
      return new Vote.No(transaction.told(heldBack));
    }
    if (claim.read().isEmpty() && claim.changed().isEmpty()) {
      untouched.add(transaction);
      return new Vote.Yes(List.of());
    }
    CommitRequest request;
    try {
      request = writer.across(transaction);
    } catch (RuntimeException full) {
      transaction.letGo();
      return new Vote.No(full);
    }
    try {
      List<Entry> entries = intake.sketch(request);
      ready.put(transaction, request);
      claims.put(transaction, claim);
      return new Vote.Yes(entries);
    } catch (RuntimeException refusal) {
      request.fail(refusal);
      transaction.letGo();
      return new Vote.No(refusal instanceof Aborted lost ? transaction.told(lost) : refusal);
    }
  }

  /// The commit of a round in one store.
  ///
  /// @param chosen the committed transactions that have read or written something here
  public record Committed(BatchWriter writer, Map<StoreTransaction, CommitRequest> chosen) {
    /// Ends the transactions when the store has executed them. Does not wait: calls before them may
    /// wait for batches that come after what this store has to log next.
    public void endWhenExecuted() {
      chosen.forEach((transaction, request) -> request.whenDone(_ -> transaction.committed()));
    }

    /// Waits until the store has executed the committed parts, except those behind calls that wait
    /// for other stores. The store executes the latter after these calls, and questions wait for
    /// them.
    public void awaitExecuted() {
      chosen.forEach((transaction, request) -> {
        if (writer.awaitHere(transaction, request)) transaction.committed();
        else request.whenDone(_ -> transaction.committed());
      });
      for (Request request : chosen.values()) if (request.isDone()) request.check();
    }
  }

  /// Logs the parts of committed transactions during a hold, gives up the others, and ends all
  /// claims. When this returns, the parts are durable.
  ///
  /// @param token the addresses of all transactions that commit together
  /// @param committed the transactions of this store, by their offset in the token
  public Committed commit(Token token, SortedMap<Integer, StoreTransaction> committed) {
    return commit(token, committed, null);
  }

  /// Logs the parts like [#commit(Token, SortedMap)], together with the entry that commits them.
  ///
  /// @param key the key that gets the entry, as by [Store#append]
  /// @param logged gets the entry's stream address when the parts are durable, before any reader
  ///   sees them
  public Committed commit(
      Token token,
      SortedMap<Integer, StoreTransaction> committed,
      Key key,
      byte[] entry,
      LongConsumer logged) {
    NoteRequest note = writer.noted(key, entry);
    note.durable = logged;
    Committed done = commit(token, committed, note);
    note.check();
    return done;
  }

  private Committed commit(
      Token token, SortedMap<Integer, StoreTransaction> committed, @Nullable NoteRequest note) {
    Check.that(!over, "what is prepared is committed once");
    var chosen = new LinkedHashMap<StoreTransaction, CommitRequest>();
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
    if (note != null && note.failed()) chosen.keySet().forEach(StoreTransaction::letGo);
    return new Committed(writer, chosen);
  }

  /// Gives up the transactions that are not committed, and ends all claims. A second call does
  /// nothing.
  public void close() {
    if (over) return;
    over = true;
    var cause = new Unavailable("the transaction was given up by another store");
    for (Claims.Claim claim : new ArrayList<>(claims.values())) intake.release(claim);
    ready.forEach((transaction, request) -> {
      request.fail(cause);
      transaction.letGo();
    });
    untouched.forEach(StoreTransaction::letGo);
  }
}
