package stoa.node.access;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The roles that a request needs.
public sealed interface Need {
  /// A need that every identity meets.
  Need NONE = new All(List.of());

  /// A role for the store as a whole.
  record OfStore(Role role) implements Need {
    @Override
    public String toString() {
      return "the role " + role.word() + " for all types";
    }
  }

  /// A role for a type of objects.
  ///
  /// @param type the stored name of the type
  record OfType(Role role, String type) implements Need {
    @Override
    public String toString() {
      return "the role " + role.word() + " on " + type;
    }
  }

  /// The roles for a call whose method is not known yet: an accessor needs less than other methods.
  ///
  /// @param type the stored name of the object's type; null when the call needs the role for the
  ///   store as a whole
  /// @param begins whether the call begins an object that is absent
  record OfCall(@Nullable String type, boolean begins) implements Need {
    @Override
    public String toString() {
      return "the role call " + (type == null ? "for all types" : "on " + type);
    }
  }

  /// Several needs; an identity must meet each.
  ///
  /// @param needs none when every identity may
  record All(List<Need> needs) implements Need {
    /// Copies the needs.
    public All {
      needs = List.copyOf(needs);
    }
  }

  /// Returns the need of a role for the store as a whole.
  static Need of(Role role) {
    return new OfStore(role);
  }

  /// Returns the need of a role for a type of objects.
  static Need of(Role role, String type) {
    return new OfType(role, type);
  }
}
