package stoa.node.access;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.TypePattern;

/// A client as a door knows it: by its proof. Its roles are always those of the present identities.
/// Thread-safe.
public final class Caller {
  private final Access access;
  private final Proof proof;
  private final String name;
  private volatile Standing standing;

  /// @param known what the identities know of the proof; null for nothing
  /// @param mayAll whether the identity has all roles for all types
  private record Standing(
      Identities identities, Identities.@Nullable Known known, boolean mayAll) {}

  Caller(Access access, Proof proof) {
    this.access = access;
    this.proof = proof;
    standing = standing(access.identities());
    Identities.Known known = standing.known;
    name = known == null ? "nobody" : known.identity().name();
  }

  private Standing standing(Identities identities) {
    Identities.Known known = identities.find(proof);
    return new Standing(identities, known, known != null && known.identity().hasAll());
  }

  /// Returns the standing by the present identities.
  private Standing present() {
    Standing last = standing;
    Identities now = access.identities();
    if (last.identities != now) {
      last = standing(now);
      standing = last;
    }
    return last;
  }

  /// Returns what is known of the proof now; null for nothing.
  private Identities.@Nullable Known known() {
    return valid(present());
  }

  private static Identities.@Nullable Known valid(Standing standing) {
    Identities.Known known = standing.known;
    return known == null || known.isOver(System.currentTimeMillis()) ? null : known;
  }

  /// Returns whether the proof counts: it does not when the identity, or the proof, has ended or
  /// was removed.
  public boolean isKnown() {
    return known() != null;
  }

  /// Returns the name of its identity, also when that has ended.
  public String name() {
    return name;
  }

  /// Returns whether a server's own client speaks for it.
  public boolean isVouched() {
    return proof instanceof Proof.Vouched;
  }

  /// Returns whether it may do everything.
  public boolean mayAll() {
    Standing now = present();
    return now.mayAll && valid(now) != null;
  }

  /// Returns whether it has a role for some types at least.
  public boolean hasSome(Role role) {
    Identities.Known known = known();
    return known != null
        && known.identity().grants().stream().anyMatch(grant -> grant.role().includes(role));
  }

  /// Returns the types for which it has a role, see [TypePattern]; none when it has not the role.
  public List<String> types(Role role) {
    Identities.Known known = known();
    if (known == null) return List.of();
    List<String> types = new ArrayList<>();
    for (Grant grant : known.identity().grants()) {
      if (!grant.role().includes(role)) continue;
      if (grant.types().isEmpty()) types.add(TypePattern.ALL);
      else types.addAll(grant.types());
    }
    return types;
  }

  /// Decides on a request.
  public Permit permit(Need need) {
    Identities.Known known = known();
    if (known != null) return known.identity().permit(need);
    return Permit.refused("the identity " + name + " has ended or was removed; use another proof");
  }

  /// Returns the words of a refusal.
  public String refusal(Need need) {
    Permit permit = permit(need);
    return permit.refusal() == null
        ? "the identity " + name + " has not " + need
        : permit.refusal();
  }

  @Override
  public String toString() {
    return name();
  }
}
