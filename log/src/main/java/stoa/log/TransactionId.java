package stoa.log;

/// The identity of a transaction or append, by which a repeat finds the earlier attempt.
///
/// @param session who makes it; a session that opens later has a higher number
/// @param sequence its number within the session, rising; a session has one under way at a time
public record TransactionId(long session, long sequence) {
  @Override
  public String toString() {
    return session + "#" + sequence;
  }
}
