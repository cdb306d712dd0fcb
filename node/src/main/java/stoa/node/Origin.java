package stoa.node;

/// Where the client of a session comes from.
///
/// @param address of its machine; empty when only an earlier server knew
/// @param token which of the server's tokens it sent, from 1; 0 for none, or when only an earlier
///   server knew
record Origin(String address, int token) {
  /// The origin of a session that an earlier server opened.
  static final Origin UNKNOWN = new Origin("", 0);
}
