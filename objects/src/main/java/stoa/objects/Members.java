package stoa.objects;

import java.util.concurrent.ConcurrentHashMap;
import stoa.front.types.IndexedMember;

/// The fields and accessors of a class that a query reads. Thread-safe.
final class Members {
  private final ObjectType type;
  private final ConcurrentHashMap<String, IndexedMember> members = new ConcurrentHashMap<>();

  Members(ObjectType type) {
    this.type = type;
  }

  /// Returns the class.
  ObjectType type() {
    return type;
  }

  /// Returns the field or accessor of a name, see [ObjectType#member].
  IndexedMember get(String name) {
    IndexedMember known = members.get(name);
    return known != null ? known : members.computeIfAbsent(name, type::member);
  }
}
