package stoa.node.access;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.TypePattern;

/// A role of an identity, for all types of objects or for some.
///
/// @param role the role
/// @param types the stored names of the types; a last `*` stands for any end. None for all types,
///   and for what concerns the store as a whole
public record Grant(Role role, List<String> types) {
  /// Copies the types.
  public Grant {
    types = List.copyOf(types);
  }

  /// Returns whether it allows what needs a role.
  ///
  /// @param type the type of the object; null for the store as a whole
  boolean allows(Role needed, @Nullable String type) {
    if (!role.includes(needed)) return false;
    if (types.isEmpty()) return true;
    return type != null && types.stream().anyMatch(one -> TypePattern.matches(one, type));
  }

  @Override
  public String toString() {
    return role.word() + (types.isEmpty() ? "" : " on " + String.join(",", types));
  }
}
