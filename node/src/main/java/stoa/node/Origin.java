package stoa.node;

/// Where the client of a session comes from.
///
/// @param address of its machine; empty when only an earlier server knew
/// @param identity the name of its identity; empty when only an earlier server knew
record Origin(String address, String identity) {
  /// The origin of a session that an earlier server opened.
  static final Origin UNKNOWN = new Origin("", "");
}
