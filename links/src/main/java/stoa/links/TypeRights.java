package stoa.links;

import java.util.List;
import stoa.base.TypePattern;

/// The types of objects that a process may use in a tree, as its identity says when the process
/// joins. Immutable.
///
/// @param roles for each role that a user of objects needs and has for some types alone: these
///   types, see [TypePattern]
public record TypeRights(List<List<String>> roles) {
  /// All types.
  public static final TypeRights ALL = new TypeRights(List.of());

  /// Copies the roles, without those for all types.
  public TypeRights {
    roles =
        roles.stream()
            .filter(types -> !types.contains(TypePattern.ALL))
            .<List<String>>map(List::copyOf)
            .toList();
  }

  /// Returns whether it has all types.
  public boolean hasAll() {
    return roles.isEmpty();
  }

  /// Returns whether it has a type.
  ///
  /// @param type the stored name
  public boolean has(String type) {
    return roles.stream()
        .allMatch(types -> types.stream().anyMatch(each -> TypePattern.matches(each, type)));
  }
}
