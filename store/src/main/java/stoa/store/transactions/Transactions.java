package stoa.store.transactions;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.batches.BatchLeader;
import stoa.store.leading.Moments;
import stoa.store.leading.Tally;
import stoa.store.past.Holds;
import stoa.store.past.Pins;
import stoa.store.past.Playback;
import stoa.store.records.Records;
import stoa.store.running.Copy;
import stoa.store.running.GetRequest;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Timeline;

/// Begins transactions of a store, at a moment that stays readable, and finds their outcomes.
/// Thread-safe.
public final class Transactions implements StoreTransaction.Host {
  private final BatchLeader leader;
  private final Moments moments;
  private final Holds holds;
  private final Streams streams;
  private final Timeline timeline;
  private final Residents residents;
  private final Playback playback;
  private final Tally tally;
  private final AtomicLong marks = new AtomicLong();

  /// @param holds keeps what transactions read
  /// @param playback tells what they read of the past
  /// @param tally counts those that lose
  public Transactions(
      BatchLeader leader,
      Holds holds,
      Streams streams,
      Timeline timeline,
      Residents residents,
      Playback playback,
      Tally tally) {
    this.leader = leader;
    this.moments = leader.moments();
    this.holds = holds;
    this.streams = streams;
    this.timeline = timeline;
    this.residents = residents;
    this.playback = playback;
    this.tally = tally;
  }

  // ---- for transactions

  @Override
  public Answer askPast(
      StoreTransaction transaction, Key key, Object query, Existence existence, int depth) {
    return playback.at(key, transaction.counter()).get(query, existence, transaction, depth);
  }

  @Override
  public Copy copyPast(Key key, long counter, long tail) {
    return playback.at(key, counter).copy(tail);
  }

  @Override
  public void ask(QuestionRequest question) {
    leader.askInTransaction(question);
  }

  @Override
  public long commit(StoreTransaction transaction) {
    return leader.commit(transaction);
  }

  @Override
  public long epoch() {
    return leader.epoch();
  }

  @Override
  public void checkOpen() {
    playback.checkOpen();
  }

  @Override
  public long firstBehind(StreamId stream, long counter) {
    return timeline.firstBehind(stream, counter);
  }

  @Override
  public void lostBecauseOf(Key key) {
    tally.conflict(key);
  }

  // ---- pins

  /// Pins the present: what is seen now stays readable.
  public Pins.Pin pinNow() {
    Pins.Pin pin = pinPresent(Long.MAX_VALUE);
    playback.observed().advance(pin.counter());
    return pin;
  }

  /// Pins the present: in front of it nothing that it shows is released.
  private Pins.Pin pinPresent(long forMicros) {
    return holds.pins().pin(moments::moment, moments::present, forMicros);
  }

  /// Pins a place of the past.
  ///
  /// @throws IllegalArgumentException when nothing is committed there, or the address was never
  ///   issued
  public Pins.Pin pinAt(LogAddress address) {
    moments.reach(address.counter());
    Pins.Pin pin = holds.pin(() -> holds.pins().pin(address.counter()));
    try {
      checkIssued(address);
    } catch (RuntimeException never) {
      pin.close();
      throw never;
    }
    return pin;
  }

  /// Refuses an address of another epoch than its counter was issued in.
  private void checkIssued(LogAddress address) {
    if (moments.isOrdered()) return; // it may be of another store
    long counter = address.counter();
    boolean old = counter < leader.firstCounter() && counter > 0;
    boolean told = old && counter >= streams.firstInLog();
    Streams.LogItem item = told ? streams.at(counter) : null;
    long epoch = item != null ? item.log().epoch() : old ? address.epoch() : leader.epoch();
    if (epoch != address.epoch()) {
      throw new IllegalArgumentException(
          "log address "
              + address
              + " was never issued; "
              + new LogAddress(epoch, counter)
              + " was");
    }
  }

  // ---- transactions

  /// What no other transaction of this log carries: no other process has opened it in this epoch
  /// and term.
  private StreamId mark() {
    return new StreamId(leader.owner(), marks.incrementAndGet());
  }

  /// Begins a transaction that reads the present.
  public StoreTransaction begin(StoreTransaction.Bounds bounds) {
    playback.checkOpen();
    playback.confirm();
    long now = playback.runs().clock.nowMicros();
    Pins.Pin pin = pinPresent(bounds.micros());
    var at = new LogAddress(leader.epoch(), pin.counter());
    return begun(bounds, at, now, pin);
  }

  /// Begins a transaction that reads the past.
  ///
  /// @throws IllegalArgumentException when the address lies in the future
  public StoreTransaction begin(StoreTransaction.Bounds bounds, LogAddress at) {
    playback.checkOpen();
    playback.confirm();
    moments.reach(at.counter());
    long now = playback.runs().clock.nowMicros();
    Pins.Pin pin = holds.pin(() -> holds.pins().pin(at::counter, at::counter, bounds.micros()));
    try {
      checkIssued(at);
    } catch (RuntimeException never) {
      pin.close();
      throw never;
    }
    return begun(bounds, at, now, pin);
  }

  private StoreTransaction begun(
      StoreTransaction.Bounds bounds, LogAddress at, long nowMicros, Pins.Pin pin) {
    var begun = new StoreTransaction.Begun(at, nowMicros, mark(), pin::close);
    return new StoreTransaction(this, residents, playback.runs(), bounds, begun);
  }

  /// Begins the transaction of one question whose handler asks other keys: all are seen as they are
  /// now.
  public StoreTransaction beginQuestion() {
    return begin(questionBounds()).forOneQuestion();
  }

  /// As [#beginQuestion()], for a part of a question whose other parts are in other stores.
  ///
  /// @param counter as of which all keys are seen
  /// @param callers the keys whose handlers wait for it, outermost first
  public StoreTransaction beginQuestion(long counter, List<Key> callers) {
    return begin(questionBounds(), new LogAddress(leader.epoch(), counter)).forOneQuestion(callers);
  }

  /// As [#beginQuestion()], for a question that was given up: all keys are seen as of a moment at
  /// which its own was as it was found then.
  public StoreTransaction beginQuestion(Request moved) {
    if (moments.isOrdered()) return beginQuestionInOrder(moved);
    long asked = moved instanceof GetRequest question ? question.asked : 0;
    var at = new LogAddress(leader.epoch(), Math.max(asked, moved.reach));
    return begin(questionBounds(), at).forOneQuestion();
  }

  /// What other stores have answered before it was asked may have higher addresses than its key,
  /// but lower ones than the next change of that, which was asked for later.
  private StoreTransaction beginQuestionInOrder(Request moved) {
    StoreTransaction now = beginQuestion();
    long next = nextChange(moved.resident.key.stream(), moved.reach);
    if (next == 0 || next > now.counter()) return now;
    now.close();
    return begin(questionBounds(), new LogAddress(leader.epoch(), next - 1)).forOneQuestion();
  }

  /// The log counter of the first change of a stream behind another one; 0 when there is none.
  private long nextChange(StreamId stream, long counter) {
    var found = new long[1];
    long from = timeline.firstBehind(stream, counter);
    streams.scan(
        stream,
        from,
        streams.last(stream),
        entry -> {
          boolean changes = entry.kind() == Records.PUT || entry.kind() == Records.DELETE;
          if (changes) found[0] = entry.log().counter();
          return !changes;
        });
    return found[0];
  }

  /// It may wait for the calls of others, but not ask for ever.
  private StoreTransaction.Bounds questionBounds() {
    long micros = playback.runs().limits.callMicrosMax();
    long most = micros > Long.MAX_VALUE / 10 ? Long.MAX_VALUE : micros * 10;
    return new StoreTransaction.Bounds(StoreTransaction.Access.READS, most, Integer.MAX_VALUE, 0);
  }

  /// What became of a transaction that an earlier process may have committed: its log address, or
  /// null when nothing of it was written.
  ///
  /// @throws stoa.TooOld when that is too long ago to be known
  public @Nullable LogAddress outcome(StoreTransaction.Id id) {
    playback.confirm();
    var found = new LogAddress[1];
    Resident resident = residents.pin(id.key());
    try {
      streams.scan(
          id.key().stream(),
          id.tail() + 1,
          resident.tail(),
          entry -> {
            if (entry.kind() == Records.PUT || entry.kind() == Records.DELETE) {
              var origin = Records.originOf(entry.payload());
              if (origin != null && origin.isTransaction() && origin.caller().equals(id.mark())) {
                found[0] = entry.log();
              }
            }
            return found[0] == null;
          });
    } finally {
      resident.unpin();
    }
    // What was written may have been released. Whoever asks has waited for long.
    if (found[0] == null) timeline.check(id.key(), id.tail() + 1);
    return found[0];
  }
}
