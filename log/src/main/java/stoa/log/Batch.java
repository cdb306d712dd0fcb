package stoa.log;

import java.util.List;

/// The unit of agreement: entries that become durable together, or not at all. A batch without
/// entries takes one address and opens its term.
///
/// @param token the log addresses of the entries, see [Entry#offset()]
/// @param term the leadership under which it was proposed, from 1 and rising within an epoch
/// @param sequence its number within the term, from 1; a repeat of a number is void
/// @param nowMicros the time at which the leader made it; never goes back from batch to batch
/// @param entries in log order, and for each stream in stream order
/// @param note what the layer above keeps about all before; that of the last batch is in
///   [ShardLog.Tail]. Not to be changed any more
public record Batch(
    Token token, long term, long sequence, long nowMicros, List<Entry> entries, byte[] note) {
  private static final byte[] NOTHING = {};

  /// A batch without a note.
  public Batch(Token token, long term, long sequence, long nowMicros, List<Entry> entries) {
    this(token, term, sequence, nowMicros, entries, NOTHING);
  }
}
