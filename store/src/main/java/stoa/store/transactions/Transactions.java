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
import stoa.store.batches.BatchWriter;
import stoa.store.leading.AnswerGate;
import stoa.store.leading.Intents;
import stoa.store.leading.ReadMoments;
import stoa.store.leading.Tally;
import stoa.store.past.Holds;
import stoa.store.past.Pins;
import stoa.store.past.Playback;
import stoa.store.records.Records;
import stoa.store.running.GetRequest;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Timeline;
import stoa.store.running.WorkingCopy;

/// Begins transactions of a store at a moment that stays readable, and finds their outcomes.
/// Thread-safe.
public final class Transactions implements StoreTransaction.Host {
  private final BatchWriter writer;
  private final ReadMoments moments;
  private final AnswerGate gate;
  private final Holds holds;
  private final Streams streams;
  private final Timeline timeline;
  private final Residents residents;
  private final Playback playback;
  private final Tally tally;
  private final AtomicLong marks = new AtomicLong();

  /// @param holds keeps the entries that transactions read
  /// @param playback shows keys of the past to them
  /// @param tally counts those that are aborted
  public Transactions(
      BatchWriter writer,
      Holds holds,
      Streams streams,
      Timeline timeline,
      Residents residents,
      Playback playback,
      Tally tally) {
    this.writer = writer;
    this.moments = writer.moments();
    this.gate = writer.gate();
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
  public WorkingCopy copyPast(Key key, long counter, long tail) {
    return playback.at(key, counter).copy(tail);
  }

  @Override
  public @Nullable WorkingCopy copyNow(StoreTransaction transaction, Resident resident) {
    return writer.mayLog() ? resident.copyNow(transaction) : null;
  }

  @Override
  public void ask(QuestionRequest question) {
    writer.askInTransaction(question);
  }

  @Override
  public long commit(StoreTransaction transaction) {
    return writer.commit(transaction);
  }

  @Override
  public long epoch() {
    return writer.epoch();
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

  @Override
  public void over(Intents.Intent intent) {
    writer.end(intent);
  }

  // ---- pins

  /// Pins the present: everything that a reader sees now stays readable.
  public Pins.Pin pinNow() {
    Pins.Pin pin = pinPresent(Long.MAX_VALUE);
    playback.observed().advance(pin.counter());
    return pin;
  }

  /// Pins the present: the store releases nothing that the present shows.
  private Pins.Pin pinPresent(long forMicros) {
    // A handler sees what it has called, as soon as that was executed.
    if (playback.runs().isInHandler()) gate.awaitAppended();
    return holds.pins().pin(moments::moment, moments::present, forMicros);
  }

  /// Pins a place of the past.
  ///
  /// @throws IllegalArgumentException when the log is not committed up to there, or the address was
  ///   never issued
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

  /// Checks that an address has the epoch in which its counter was issued.
  private void checkIssued(LogAddress address) {
    if (moments.isOrdered()) return; // another store may have issued it
    long counter = address.counter();
    boolean old = counter < writer.firstCounter() && counter > 0;
    boolean told = old && counter >= streams.firstInLog();
    Streams.LogItem item = told ? streams.at(counter) : null;
    long epoch = item != null ? item.log().epoch() : old ? address.epoch() : writer.epoch();
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

  /// Returns a mark that no other transaction of this log carries: no other process has opened the
  /// log in this epoch and term.
  private StreamId mark() {
    return new StreamId(writer.owner(), marks.incrementAndGet());
  }

  /// Begins a transaction that reads the present.
  public StoreTransaction begin(StoreTransaction.Bounds bounds) {
    playback.checkOpen();
    playback.confirm();
    long now = playback.runs().clock.nowMicros();
    Pins.Pin pin = pinPresent(bounds.micros());
    var at = new LogAddress(writer.epoch(), pin.counter());
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

  /// Begins the transaction of one question whose handler asks other keys. It shows all keys as of
  /// now.
  public StoreTransaction beginQuestion() {
    return begin(questionBounds()).forOneQuestion();
  }

  /// Begins the transaction for a part of a question whose other parts are in other stores.
  ///
  /// @param counter the log counter as of which it shows all keys
  /// @param callers the keys whose handlers wait for the question, outermost first
  public StoreTransaction beginQuestion(long counter, List<Key> callers) {
    return begin(questionBounds(), new LogAddress(writer.epoch(), counter)).forOneQuestion(callers);
  }

  /// Begins the transaction for a question that the store gave up. It shows all keys as of a moment
  /// at which the question's own key was in the state in which the question found it.
  public StoreTransaction beginQuestion(Request moved) {
    if (moments.isOrdered()) return beginQuestionInOrder(moved);
    long asked = moved instanceof GetRequest question ? question.asked : 0;
    var at = new LogAddress(writer.epoch(), Math.max(asked, moved.reach));
    return begin(questionBounds(), at).forOneQuestion();
  }

  /// Begins that transaction with several stores. Answers of other stores from before the question
  /// may have higher addresses than the state of its key. They have lower addresses than the key's
  /// next change, which a caller requested later.
  private StoreTransaction beginQuestionInOrder(Request moved) {
    StoreTransaction now = beginQuestion();
    long next = nextChange(moved.resident.key.stream(), moved.reach);
    if (next == 0 || next > now.counter()) return now;
    now.close();
    return begin(questionBounds(), new LogAddress(writer.epoch(), next - 1)).forOneQuestion();
  }

  /// Returns the log counter of the first change of a stream behind another one; 0 when there is
  /// none.
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

  /// Returns bounds with more time than one call, since the question may wait for other calls.
  private StoreTransaction.Bounds questionBounds() {
    long micros = playback.runs().limits.callMicrosMax();
    long most = micros > Long.MAX_VALUE / 10 ? Long.MAX_VALUE : micros * 10;
    return new StoreTransaction.Bounds(StoreTransaction.Access.READS, most, Integer.MAX_VALUE, 0);
  }

  /// Returns the outcome of a transaction that an earlier process may have committed: its log
  /// address, or null when the log has nothing of it.
  ///
  /// @throws stoa.TooOld when the store has released the entries that would tell
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
    gate.awaitAppended();
    // The store may have released the entries, if the caller has waited for long.
    if (found[0] == null) timeline.check(id.key(), id.tail() + 1);
    return found[0];
  }
}
