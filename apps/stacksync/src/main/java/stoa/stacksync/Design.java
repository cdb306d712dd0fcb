package stoa.stacksync;

/// Which classes of the service are shared objects: the two designs that CRESON (section IV) and
/// AOF (section 5) tried. What a service answers does not depend on it.
///
/// A store is begun in one design and stays in it.
public enum Design {
  /// The coarse ones: [Facade], [User] and [Workspace]. Items are values inside their workspace,
  /// devices inside their user. A commit of any number of items is one call on a workspace.
  FACADE,

  /// All: each [SharedItem] and [SharedDevice] is an object by itself, too. A workspace calls every
  /// item of a commit, and the device is asked whose it is.
  ALL
}
