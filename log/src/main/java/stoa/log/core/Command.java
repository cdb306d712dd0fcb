package stoa.log.core;

import java.util.List;
import java.util.SortedMap;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer.Issued;
import stoa.log.Token;
import stoa.log.TransactionId;

/// What a shard's leader proposes to its log, for every replica to apply in the same order.
public sealed interface Command {
  /// Begins a leader's term.
  record Open() implements Command {}

  /// Commits a batch.
  ///
  /// @param appends in log order
  record Append(List<Appended> appends) implements Command {}

  /// Gives a batch's addresses up for good, unless the batch is there.
  ///
  /// @param token the batch's log addresses
  /// @param issued the stream addresses that were issued with them
  /// @param settledBelow a counter below which every address is settled
  record Never(Token token, List<Issued> issued, long settledBelow) implements Command {}

  /// Commits a transaction, at the log unit of its address.
  record Put(CommitRecord record) implements Command {}

  /// Gives a transaction's address up for good, unless its record is there.
  record Fill(LogAddress address, List<Issued> issued) implements Command {}

  /// Brings what another shard delivers. It is void when that shard had not yet sealed the epoch
  /// that this one is sealed at: it delivers again when it has, and if it was lost, nothing that it
  /// sent arrives afterwards.
  ///
  /// @param epoch the epoch that the sender was sealed at
  /// @param command what it delivers
  record Deliver(long epoch, Command command) implements Command {}

  /// Delivers a part of a record to a shard's streams.
  record Take(CommitRecord part) implements Command {}

  /// Delivers a record to the second log unit that keeps it, or to one that is rebuilt.
  record Copy(CommitRecord record) implements Command {}

  /// Tells a log unit where the appends of a batch went.
  record Refer(List<Slot.Reference> references) implements Command {}

  /// Tells a log unit that streams have trimmed entries.
  record Release(List<Released> entries) implements Command {}

  /// Drops entries of a stream.
  ///
  /// @param before the lowest address to keep
  record Trim(StreamId stream, long before) implements Command {}

  /// Removes deliveries that arrived.
  record Acknowledged(List<Long> items) implements Command {}

  /// Ends the older epochs: what has their tokens is void.
  record Seal(long epoch) implements Command {}

  /// Settles the older epochs, after everything in them was delivered.
  ///
  /// @param epoch the sealed one
  /// @param start the first counter of the epoch
  record Close(long epoch, long start) implements Command {}

  /// Begins a shard that replaces a lost one, in an epoch after all that the lost one was sealed
  /// at, so that nothing of an older epoch can pass for its own.
  record Replace(long epoch) implements Command {}

  /// Sends a shard that was lost everything that concerns it.
  record Rebuild(int shard) implements Command {}

  /// Tells a shard that is rebuilt up to where streams were trimmed, its own and the sender's.
  record Trimmed(SortedMap<StreamId, Long> streams) implements Command {}

  /// Takes what was delivered since this shard was lost for all that there is.
  ///
  /// @param sessionsBelow sessions up to this one are expired, unless a record tells of them
  record Rebuilt(long sessionsBelow) implements Command {}

  /// One append of a batch.
  ///
  /// @param address its log address
  /// @param id whose it is
  /// @param entries what it appends
  record Appended(LogAddress address, TransactionId id, List<StreamEntry> entries) {}

  /// A trimmed entry.
  ///
  /// @param counter its log counter
  /// @param place where it was
  record Released(long counter, Slot.Place place) {}
}
