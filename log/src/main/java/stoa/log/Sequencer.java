package stoa.log;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Check;
import stoa.base.StreamId;
import stoa.log.StreamTable.Row;

/// Issues the addresses of the global log and of its streams (vCorfu, section 3.2), and decides
/// which transactions may commit: those whose streams nobody has changed since they read (section
/// 4.3).
///
/// One owner calls it. It is soft state: what it has issued is found again in the log, and what it
/// has forgotten of a stream is asked of the stream's shard.
public final class Sequencer {
  /*
   * Invariants:
   * (1) counter is the last one issued; a newer epoch's sequencer begins above every one used.
   * (2) No address is issued twice; one is taken back only while nothing was written under it.
   * (3) Whatever is issued stays in `unsettled` until its arbiter has settled it: the shard that
   *     has the token, or the log unit of a transaction's address.
   * (4) A stream's row is here as long as something of it is unsettled. So what its shard tells of a
   *     stream without a row is all there is.
   * (5) What a shard tells counts only if it answers the last question about that stream. An answer
   *     that was long under way may be older than what was issued, settled and forgotten since.
   * (6) A transaction is refused only for a change that is settled, so that a refusal is true for
   *     ever, also for a repeat of the request in a later epoch.
   * (7) A transaction whose token is unsettled gets the same one again, and one that is settled here
   *     none: it commits at most once.
   */

  /// Limits of a sequencer.
  ///
  /// @param streamsMax how many streams without unsettled addresses are remembered; well above what
  ///   one request names, or its streams push each other out for ever
  /// @param sessionsMax how many sessions without unsettled addresses are remembered
  /// @param unsettledMax how many tokens may be unsettled
  /// @param questionsMax how many questions to shards are remembered
  public record Limits(int streamsMax, int sessionsMax, int unsettledMax, int questionsMax) {
    /// Enough for a million streams in use.
    public static final Limits STANDARD = new Limits(1 << 20, 1 << 16, 1 << 14, 1 << 14);
  }

  /// What is to be appended to one stream under a token.
  ///
  /// @param stream the stream
  /// @param count how many entries
  /// @param last which of the token's log addresses its last entry has, from 0
  /// @param lastChange which of them its last entry has that is a change, -1 when none is
  public record Demand(StreamId stream, int count, int last, int lastChange) {
    /// One change at the token's only address.
    public static Demand of(StreamId stream) {
      return new Demand(stream, 1, 0, 0);
    }
  }

  /// Stream addresses that were issued with a token.
  ///
  /// @param stream the stream
  /// @param first the first of them
  /// @param count how many
  /// @param predecessor the log address of the entry before them, null when there is none
  public record Issued(StreamId stream, long first, int count, @Nullable LogAddress predecessor) {}

  /// Who settles a token's addresses.
  public sealed interface Holder {
    /// The shard whose leader has the token.
    ///
    /// @param shard the shard
    /// @param term the leader's term
    record Shard(int shard, long term) implements Holder {}

    /// The log unit of the address.
    ///
    /// @param id whose append it is
    record LogUnit(TransactionId id) implements Holder {}
  }

  /// A token that is neither used nor given up, as far as is known here.
  ///
  /// @param token the log addresses
  /// @param issued the stream addresses
  /// @param holder who settles it
  public record Unsettled(Token token, List<Issued> issued, Holder holder) {}

  /// What a request for a token is told.
  public sealed interface Answer {
    /// The token.
    record Granted(Token token, List<Issued> issued) implements Answer {}

    /// No token: a stream has changed.
    ///
    /// @param stream which
    /// @param winner the log address of the change
    record Refused(StreamId stream, LogAddress winner) implements Answer {}

    /// Not yet: a change is under way that would refuse it, if it comes about.
    ///
    /// @param winner the log address of the change
    record Wait(LogAddress winner) implements Answer {}

    /// Not yet: shards have to be asked, and their answers given to [Sequencer#learn].
    record Ask(List<Question> questions) implements Answer {}

    /// No token: the append was made before.
    ///
    /// @param address where
    record Settled(LogAddress address) implements Answer {}

    /// No token: a later append of the same session was seen. Nobody waits for this answer.
    record Old() implements Answer {}

    /// No token: the session is forgotten, and whether the append was made is not known.
    record Expired() implements Answer {}

    /// Not yet: too much is unsettled.
    record Busy() implements Answer {}

    /// No token: the shard has a newer leader, or this one was not yet made known by
    /// [Sequencer#adopt].
    ///
    /// @param term the term that is known
    record WrongTerm(long term) implements Answer {}
  }

  /// What is to be asked of a shard.
  public sealed interface Question {
    /// Its number, to be given back with the answer.
    long number();

    /// The end of a stream.
    record OfStream(long number, StreamId stream) implements Question {}

    /// Whether an append was made.
    ///
    /// @param stream one of the append's streams; its shard knows
    record OfSession(long number, TransactionId id, StreamId stream) implements Question {}
  }

  /// What a shard knows about an append.
  public enum Known {
    /// It was taken, and is the session's last one.
    TAKEN,
    /// It is older than one that was taken. Only a late repeat asks.
    OLD,
    /// It was not taken.
    NOT_TAKEN,
    /// The session is forgotten, and nobody can tell.
    EXPIRED
  }

  /// What became of a token.
  public enum Fate {
    /// Its entries are in their streams' shards.
    HERE,
    /// It was given up for good.
    HOLE
  }

  /* A stream's part in an unsettled token, with what its row said before. */
  private record Part(
      Row row, long before, @Nullable LogAddress logBefore, @Nullable LogAddress change) {}

  private record Open(Unsettled unsettled, List<Part> parts) {}

  /* What is known of a session: its last append that got a token here, or what a shard told. */
  private record Session(TransactionId id, LogAddress address, Source source) {}

  private enum Source {
    /* It got a token here; no later one did, here or anywhere. */
    ISSUED,
    /* A shard has it; there may be later ones. */
    TAKEN,
    /* It was not made so far; there may be later ones. */
    FREE
  }

  private final long epoch;
  private final Limits limits;
  private long counter;
  /* By first counter, which rises. */
  private final SequencedMap<Long, Open> unsettled = new LinkedHashMap<>();
  private final StreamTable streams;
  private final Map<Long, Session> waiting = new LinkedHashMap<>();
  private final SequencedMap<Long, Session> known = new LinkedHashMap<>();
  private final SortedMap<Integer, Long> terms = new TreeMap<>();
  private final SequencedMap<Object, Long> questions = new LinkedHashMap<>();
  private long questionNumber;

  /// A sequencer of an epoch that continues behind an address, with standard limits.
  public Sequencer(long epoch, long counter) {
    this(epoch, counter, Limits.STANDARD);
  }

  /// A sequencer of an epoch that continues behind an address. Every older epoch is settled.
  public Sequencer(long epoch, long counter, Limits limits) {
    this.epoch = epoch;
    this.counter = counter;
    this.limits = limits;
    streams = new StreamTable(limits.streamsMax);
  }

  /// The epoch in which addresses are issued.
  public long epoch() {
    return epoch;
  }

  /// The counter of the last address that was issued.
  public long last() {
    return counter;
  }

  /// The last log address issued: a transaction that begins now reads here.
  public LogAddress tail() {
    return new LogAddress(epoch, counter);
  }

  /// A log address at and below which everything is settled.
  public LogAddress settledTail() {
    return new LogAddress(
        epoch, unsettled.isEmpty() ? counter : unsettled.firstEntry().getKey() - 1);
  }

  /// Issues nothing up to a counter any more: those addresses are others'.
  public void skip(long to) {
    Check.that(unsettled.isEmpty(), "a log that skips addresses settles them itself");
    counter = Math.max(counter, to);
  }

  /// Issues log addresses alone, for a log whose owner numbers its streams itself, and settles them
  /// too.
  public Token grant(int count) {
    Check.that(count > 0, "a batch has entries");
    var first = new LogAddress(epoch, counter + 1);
    counter += count;
    return new Token(first, count);
  }

  /// Issues the addresses of a batch to a shard's leader.
  ///
  /// @param count how many log addresses
  /// @param demands what it appends, each stream once
  public Answer grant(Holder.Shard holder, int count, List<Demand> demands) {
    long term = terms.getOrDefault(holder.shard, 0L);
    if (term != holder.term) return new Answer.WrongTerm(term);
    if (unsettled.size() >= limits.unsettledMax) return new Answer.Busy();
    List<Question> asked = new ArrayList<>();
    for (var demand : demands) row(demand.stream, asked);
    return asked.isEmpty() ? issue(holder, count, demands) : new Answer.Ask(asked);
  }

  /// Issues the address of a transaction, or of an append to streams of several shards.
  ///
  /// @param at where the transaction read; null for an append without conditions
  /// @param reads the streams it has read, each of which must not have changed since
  /// @param demands what it appends, each stream once; these must not have changed either
  public Answer grant(
      TransactionId id, @Nullable LogAddress at, List<StreamId> reads, List<Demand> demands) {
    Check.that(!demands.isEmpty(), "%s appends something", id);
    List<Question> asked = new ArrayList<>();
    Answer earlier = earlier(id, demands.getFirst().stream, asked);
    if (earlier != null) return earlier;
    if (unsettled.size() >= limits.unsettledMax) return new Answer.Busy();
    for (var demand : demands) row(demand.stream, asked);
    if (at != null) {
      for (var stream : reads) row(stream, asked);
    }
    if (!asked.isEmpty()) return new Answer.Ask(asked);
    Answer conflict = at == null ? null : conflict(at, reads, demands);
    if (conflict != null) return conflict;
    var granted = issue(new Holder.LogUnit(id), 1, demands);
    known.remove(id.session());
    waiting.put(id.session(), new Session(id, granted.token.first(), Source.ISSUED));
    return granted;
  }

  /* (7); null when it may have a token, or has to be asked for. */
  private @Nullable Answer earlier(TransactionId id, StreamId stream, List<Question> asked) {
    Session open = waiting.get(id.session());
    if (open != null) return again(id, open);
    Session session = known.get(id.session());
    int order = session == null ? 1 : Long.compare(id.sequence(), session.id.sequence());
    boolean tells =
        session != null
            && switch (session.source) {
              case ISSUED -> true;
              case TAKEN -> order <= 0;
              case FREE -> order == 0;
            };
    if (session == null || !tells) {
      asked.add(new Question.OfSession(question(id), id, stream));
      return null;
    }
    if (order > 0 || session.source == Source.FREE) return null;
    return order == 0 ? new Answer.Settled(session.address) : new Answer.Old();
  }

  private Answer again(TransactionId id, Session waits) {
    int order = Long.compare(id.sequence(), waits.id.sequence());
    if (order != 0) return order < 0 ? new Answer.Old() : new Answer.Busy();
    var open = Objects.requireNonNull(unsettled.get(waits.address.counter()));
    return new Answer.Granted(open.unsettled.token, open.unsettled.issued);
  }

  private @Nullable Answer conflict(LogAddress at, List<StreamId> reads, List<Demand> demands) {
    List<StreamId> streams = new ArrayList<>(reads);
    for (var demand : demands) streams.add(demand.stream);
    Answer wait = null;
    for (var stream : streams) {
      Row row = known(stream);
      LogAddress change = row.settledChange;
      if (change != null && change.compareTo(at) > 0) return new Answer.Refused(stream, change);
      if (row.changes.isEmpty()) continue;
      LogAddress last = row.changes.getLast();
      if (last.compareTo(at) > 0) wait = new Answer.Wait(last);
    }
    return wait;
  }

  private Answer.Granted issue(Holder holder, int count, List<Demand> demands) {
    Token token = grant(count);
    List<Issued> issued = new ArrayList<>(demands.size());
    List<Part> parts = new ArrayList<>(demands.size());
    for (var demand : demands) {
      Row row = known(demand.stream);
      streams.hold(row);
      LogAddress change = demand.lastChange < 0 ? null : token.at(demand.lastChange);
      parts.add(new Part(row, row.last, row.lastLog, change));
      issued.add(new Issued(demand.stream, row.last + 1, demand.count, row.lastLog));
      row.last += demand.count;
      row.lastLog = token.at(demand.last);
      if (change != null) row.changes.add(change);
    }
    unsettled.put(token.first().counter(), new Open(new Unsettled(token, issued, holder), parts));
    return new Answer.Granted(token, issued);
  }

  /* The row of a stream, or null after adding a question. */
  private @Nullable Row row(StreamId stream, List<Question> asked) {
    Row row = streams.find(stream);
    if (row == null) asked.add(new Question.OfStream(question(stream), stream));
    else streams.use(row);
    return row;
  }

  private Row known(StreamId stream) {
    return Objects.requireNonNull(streams.find(stream));
  }

  /* The number of the question about something, the same until it is answered or forgotten. */
  private long question(Object about) {
    Long asked = questions.get(about);
    if (asked != null) return asked;
    questions.putLast(about, ++questionNumber);
    if (questions.size() > limits.questionsMax) questions.pollFirstEntry();
    return questionNumber;
  }

  private boolean isAnswer(Object about, long number) {
    return questions.remove(about, number);
  }

  /// Learns the end of a stream from its shard, in answer to a question.
  ///
  /// @param last the last stream address, 0 when there is none
  /// @param log the log address there, null when there is none
  /// @param change the log address of the last change, null when there is none
  public void learn(
      Question.OfStream question,
      long last,
      @Nullable LogAddress log,
      @Nullable LogAddress change) {
    if (!isAnswer(question.stream, question.number)) return;
    var row = new Row(question.stream);
    row.last = last;
    row.lastLog = log;
    row.settledChange = change;
    streams.add(row);
  }

  /// Learns of an append from a shard, in answer to a question.
  ///
  /// @param address where it was made, if it was
  /// @return the final answer to the request, or null when it is to be made again
  public @Nullable Answer learn(
      Question.OfSession question, Known answer, @Nullable LogAddress address) {
    TransactionId id = question.id;
    if (!isAnswer(id, question.number)) return null;
    switch (answer) {
      case TAKEN -> remember(new Session(id, Objects.requireNonNull(address), Source.TAKEN));
      case NOT_TAKEN -> remember(new Session(id, new LogAddress(0, 0), Source.FREE));
      case OLD -> {
        return new Answer.Old();
      }
      case EXPIRED -> {
        return new Answer.Expired();
      }
    }
    return null;
  }

  private void remember(Session session) {
    known.putLast(session.id.session(), session);
    if (known.size() > limits.sessionsMax) known.pollFirstEntry();
  }

  /// The last address issued to a stream, after which a read that begins now waits. Null when its
  /// shard has to be asked; the question is added.
  public @Nullable Long check(StreamId stream, List<Question> asked) {
    Row row = row(stream, asked);
    return row == null ? null : row.last;
  }

  /// Learns from its arbiter what became of a token. A repeat changes nothing.
  ///
  /// @param first the token's first log address
  public void settled(LogAddress first, Fate fate) {
    if (first.epoch() != epoch) return;
    var open = unsettled.remove(first.counter());
    if (open == null) return;
    for (var part : open.parts) {
      Row row = part.row;
      LogAddress change = part.change;
      if (change != null) {
        row.changes.remove(change);
        boolean later = row.settledChange == null || row.settledChange.compareTo(change) < 0;
        if (fate == Fate.HERE && later) row.settledChange = change;
      }
      streams.release(row);
    }
    if (open.unsettled.holder instanceof Holder.LogUnit(TransactionId id)) {
      waiting.remove(id.session());
      remember(new Session(id, first, fate == Fate.HERE ? Source.ISSUED : Source.FREE));
    }
  }

  /// Takes back the addresses of a batch of which nothing was written, when none was issued since.
  public void takeBack(Token token) {
    Check.that(
        token.first().epoch() == epoch && token.first().counter() + token.count() - 1 == counter,
        "%s is the last token issued",
        token);
    counter -= token.count();
    var open = unsettled.get(token.first().counter());
    if (open == null) return;
    for (var part : open.parts) {
      part.row.last = part.before;
      part.row.lastLog = part.logBefore;
    }
    settled(token.first(), Fate.HOLE);
  }

  /// Refuses older leaders of a shard from now on.
  ///
  /// @return the tokens of older leaders that the new one is to settle; null when it is not the
  ///   newest
  public @Nullable List<Unsettled> adopt(int shard, long term) {
    if (term < terms.getOrDefault(shard, 0L)) return null;
    terms.put(shard, term);
    List<Unsettled> older = new ArrayList<>();
    for (var open : unsettled.values()) {
      if (open.unsettled.holder instanceof Holder.Shard(int of, long held)
          && of == shard
          && held < term) {
        older.add(open.unsettled);
      }
    }
    return older;
  }

  /// What is unsettled, oldest first: after a time, its arbiters are to be asked.
  public List<Unsettled> unsettled() {
    List<Unsettled> all = new ArrayList<>(unsettled.size());
    for (var open : unsettled.values()) all.add(open.unsettled);
    return all;
  }

  /// Who settles a log address, or null when it is settled or not yet issued.
  public @Nullable Unsettled holder(long address) {
    for (var open : unsettled.values()) {
      Token token = open.unsettled.token;
      long first = token.first().counter();
      if (first <= address && address < first + token.count()) return open.unsettled;
    }
    return null;
  }
}
