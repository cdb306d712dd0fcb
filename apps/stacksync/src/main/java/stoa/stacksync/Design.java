package stoa.stacksync;

/// The choice of the service's shared classes: the two designs that CRESON (section IV) and AOF
/// (section 5) tried. The answers of a service do not depend on it.
///
/// The first use of a store determines its design.
public enum Design {
  /// The coarse ones: [Facade], [User] and [Workspace]. Items are values inside their workspace,
  /// devices inside their user. A commit of any number of items is one call on a workspace.
  FACADE,

  /// All: each [SharedItem] and [SharedDevice] is an object by itself, too. A workspace calls every
  /// item of a commit, and the device is asked whose it is.
  ALL
}
