package stoa.stacksync;

/// The choice of the service's shared classes: the three designs that CRESON (section IV) and AOF
/// (section 5) tried. The answers of a service do not depend on it.
///
/// The first use of a store determines its design. [Services#open] opens a service in any of them.
public enum Design {
  /// Every class is shared: also each [SharedItem], [SharedVersion], [SharedChunk] and
  /// [SharedDevice] is an object by itself. A commit calls each item, version and chunk that it
  /// creates.
  EVERYTHING_SHARED("everything-shared"),

  /// Items, with their versions and chunks, are values inside their [Workspace], and devices inside
  /// their [User]. A commit of any number of items is one call on a workspace.
  ITEMS_EMBEDDED("items-embedded"),

  /// Only facades are shared, see [WholeFacade]: each holds everything of its users, as a shard of
  /// a database does. A commit is one call on a facade.
  FACADE_ALONE("facade-alone");

  private final String words;

  Design(String words) {
    this.words = words;
  }

  /// Returns the name of the design on a command line.
  @Override
  public String toString() {
    return words;
  }
}
