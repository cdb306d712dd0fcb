package stoa.log;

import java.util.List;

/// The unit of agreement: entries that become durable together, or not at all. A batch without
/// entries takes one address and opens its term.
///
/// @param token the log addresses of the entries, see [Entry#offset()]
/// @param term the leadership under which it was proposed, from 1 and ascending within an epoch
/// @param sequence its number within the term, from 1; a repeated number is void
/// @param nowMicros the time at which the leader made it; never goes back from batch to batch
/// @param entries in log order, and for each stream in stream order
/// @param note a note of the layer above about everything before; [BatchLog.Tail] has that of the
///   last batch. Must not change any more
public record Batch(
    Token token, long term, long sequence, long nowMicros, List<Entry> entries, byte[] note) {
  private static final byte[] NOTHING = {};

  /// Creates a batch without a note.
  public Batch(Token token, long term, long sequence, long nowMicros, List<Entry> entries) {
    this(token, term, sequence, nowMicros, entries, NOTHING);
  }
}
