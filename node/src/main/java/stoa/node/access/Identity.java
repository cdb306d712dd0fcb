package stoa.node.access;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A client, or several with the same rights, under a name.
///
/// @param name its name, in logs and in the audit log
/// @param untilMillis when it ends, in milliseconds since 1970
/// @param grants its roles
public record Identity(String name, long untilMillis, List<Grant> grants) {
  /// Copies the roles.
  public Identity {
    grants = List.copyOf(grants);
  }

  /// Returns whether it has all roles, for all types.
  boolean hasAll() {
    for (Role role : Role.values()) if (!has(role, null)) return false;
    return true;
  }

  /// Returns whether it has a role.
  ///
  /// @param type a type of objects; null for the store as a whole
  boolean has(Role role, @Nullable String type) {
    for (Grant grant : grants) if (grant.allows(role, type)) return true;
    return false;
  }

  /// Decides on a need.
  Permit permit(Need need) {
    return switch (need) {
      case Need.OfStore(Role role) -> has(role, null) ? Permit.WHOLE : refused(need);
      case Need.OfType(Role role, String type) -> has(role, type) ? Permit.WHOLE : refused(need);
      case Need.OfCall(@Nullable String type, boolean begins) -> {
        if (has(Role.CALL, type)) {
          boolean existing = begins && !has(Role.CREATE, type);
          yield existing ? new Permit(null, false, true) : Permit.WHOLE;
        }
        yield has(Role.READ, type) ? new Permit(null, true, false) : refused(need);
      }
      case Need.All(List<Need> needs) -> {
        for (Need one : needs) {
          Permit permit = permit(one);
          if (permit.refusal() != null) yield permit;
        }
        yield Permit.WHOLE;
      }
    };
  }

  private Permit refused(Need need) {
    return Permit.refused(refusal(need));
  }

  /// Returns the words of a refusal.
  String refusal(Need need) {
    return "the identity "
        + name
        + " has not "
        + need
        + "; an operator grants it in the server's file of --identities";
  }
}
