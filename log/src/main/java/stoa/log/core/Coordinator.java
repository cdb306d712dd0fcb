package stoa.log.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Check;
import stoa.base.StreamId;
import stoa.log.Sequencer.Answer;
import stoa.log.Sequencer.Demand;
import stoa.log.Sequencer.Issued;
import stoa.log.TransactionId;
import stoa.log.core.StreamEntry.Sort;

/// Carries one transaction, or one append to several streams, from its token to its outcome
/// (vCorfu, section 4.3).
///
/// One owner calls it. It is soft state: any number of coordinators may work on one transaction, at
/// once or one after the other, and each comes to the same outcome.
public final class Coordinator {
  /*
   *            Granted                Stored, Same
   *   TOKEN ──────────────► RECORD ─────────────────► OVER
   *     ▲  │                  │  │                     ▲
   *     │  │ Refused, Settled │  └ not yet delivered: written again
   *     │  └──────────────────┼────────────────────────┘
   *     └─────────────────────┘ a hole is there, or the epoch is over
   *
   * Each effect has a number. An answer to an earlier one is dropped, so that a token that was given
   * up is never used.
   */

  /// What a transaction appends to a stream.
  ///
  /// @param stream the stream
  /// @param sort whether it changes the stream
  /// @param payload the content
  public record Write(StreamId stream, Sort sort, byte[] payload) {}

  /// What is to be committed.
  ///
  /// @param id its identity, the same for every repeat
  /// @param at where it read; null for an append without conditions
  /// @param reads the streams it read
  /// @param writes what it appends, at least one entry
  public record Transaction(
      TransactionId id, @Nullable LogAddress at, List<StreamId> reads, List<Write> writes) {}

  /// What became of a transaction.
  public sealed interface Outcome {
    /// It is committed, and every shard has its part.
    record Committed(LogAddress address) implements Outcome {}

    /// Nothing of it was or will be written.
    ///
    /// @param stream a stream that changed since it read
    /// @param winner the log address of the change
    record Aborted(StreamId stream, LogAddress winner) implements Outcome {}

    /// It is not known any more. Its session has to be opened again.
    record Unknown() implements Outcome {}

    /// It is a late repeat of one whose outcome was told.
    record Stale() implements Outcome {}
  }

  /// What its owner is to do.
  public sealed interface Effect {
    /// Ask the sequencer for a token.
    record Ask(long number, Transaction transaction, List<Demand> demands) implements Effect {}

    /// Write the record at the log unit of its address, and learn whether it is delivered.
    record Put(long number, CommitRecord record) implements Effect {}

    /// Tell the outcome; nothing follows.
    record Tell(Outcome outcome) implements Effect {}
  }

  /// What the log unit says.
  public enum Written {
    /// The record is there and every shard has its part.
    DELIVERED,
    /// The record is there.
    STORED,
    /// Something else is there.
    TAKEN,
    /// The address is of an epoch that is over.
    OLD_EPOCH
  }

  private final Transaction transaction;
  private final List<Demand> demands;
  private long number;
  private Effect last;

  /// A coordinator of a transaction, whose first effect is [#last].
  public Coordinator(Transaction transaction) {
    Check.that(!transaction.writes.isEmpty(), "%s appends something", transaction.id);
    this.transaction = transaction;
    Map<StreamId, Demand> byStream = new LinkedHashMap<>();
    for (var write : transaction.writes) {
      int change = write.sort == Sort.CHANGE ? 0 : -1;
      byStream.merge(
          write.stream,
          new Demand(write.stream, 1, 0, change),
          (one, two) ->
              new Demand(
                  one.stream(), one.count() + 1, 0, Math.max(one.lastChange(), two.lastChange())));
    }
    demands = List.copyOf(byStream.values());
    last = ask();
  }

  private Effect ask() {
    return new Effect.Ask(++number, transaction, demands);
  }

  /// The effect that waits for an answer, to be done again when none comes; or the outcome.
  public Effect last() {
    return last;
  }

  /// Takes the sequencer's answer to an [Effect.Ask].
  ///
  /// @return the next effect, or null when there is none but the last one again after a while
  public @Nullable Effect on(long effect, Answer answer) {
    if (effect != number || !(last instanceof Effect.Ask)) return null;
    return switch (answer) {
      case Answer.Granted(var token, var issued) ->
          next(new Effect.Put(++number, record(token.first(), issued)));
      case Answer.Refused(var stream, var winner) -> tell(new Outcome.Aborted(stream, winner));
      case Answer.Settled(var address) -> tell(new Outcome.Committed(address));
      case Answer.Old _ -> tell(new Outcome.Stale());
      case Answer.Expired _ -> tell(new Outcome.Unknown());
      case Answer.Wait _, Answer.Ask _, Answer.Busy _, Answer.WrongTerm _ -> null;
    };
  }

  /// Takes the log unit's answer to an [Effect.Put].
  ///
  /// @return the next effect, or null when there is none but the last one again after a while
  public @Nullable Effect on(long effect, Written written) {
    if (effect != number || !(last instanceof Effect.Put put)) return null;
    return switch (written) {
      case DELIVERED -> tell(new Outcome.Committed(put.record.address()));
      case STORED -> null;
      case TAKEN, OLD_EPOCH -> next(ask());
    };
  }

  private Effect tell(Outcome outcome) {
    number++;
    return next(new Effect.Tell(outcome));
  }

  private Effect next(Effect effect) {
    last = effect;
    return effect;
  }

  private CommitRecord record(LogAddress address, List<Issued> issued) {
    Map<StreamId, Long> next = new LinkedHashMap<>();
    for (var of : issued) next.put(of.stream(), of.first());
    List<StreamEntry> entries = new ArrayList<>();
    for (var write : transaction.writes) {
      long at = next.merge(write.stream, 1L, Long::sum) - 1;
      entries.add(new StreamEntry(write.stream, at, address, write.sort, write.payload));
    }
    return new CommitRecord(address, transaction.id, entries);
  }
}
