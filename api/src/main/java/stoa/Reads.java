package stoa;

/// Which state an accessor sees of an object that migrates among clients (self-service, section
/// 5.2).
public enum Reads {
  /// The newest copy in this process. All reads and updates have one order, the same for all
  /// clients, in which a read may come before updates that ended earlier.
  LOCAL,
  /// The newest copy anywhere: the order of reads and updates agrees with real time.
  STRICT
}
