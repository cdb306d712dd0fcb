package stoa;

/// What an accessor sees of an object that migrates among clients (self-service, section 5.2).
public enum Reads {
  /// The newest copy that is here. All reads and updates have one order, the same for all who look,
  /// in which a read may come before updates that ended earlier.
  LOCAL,
  /// The newest copy that there is: reads and updates have one order that real time agrees with.
  STRICT
}
