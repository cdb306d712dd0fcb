package stoa.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.Accessor;
import stoa.Shared;
import stoa.objects.Part;

/// The servers of a store: a shared object of the store itself, in group 0. Who leads that group
/// calls it.
@Shared(name = Part.SERVERS)
class Servers {
  /// The key of the only one.
  static final String KEY = "servers";

  private final TreeMap<String, String> members = new TreeMap<>();
  private final TreeSet<String> draining = new TreeSet<>();

  /// A server.
  ///
  /// @param member where it is, as [stoa.ratis.Member] writes it
  /// @param drains whether it is to lose all that it has
  record Listed(String member, boolean drains) {}

  protected Servers() {}

  /// A server is one of them, from now on; nothing changes when it is already.
  void add(String name, String member) {
    members.put(name, member);
  }

  /// A server is to lose all that it has, and to be dismissed then.
  void drain(String name) {
    if (members.containsKey(name)) draining.add(name);
  }

  /// A server is none of them any more.
  void dismiss(String name) {
    members.remove(name);
    draining.remove(name);
  }

  /// All of them, by their names.
  @Accessor
  List<Listed> all() {
    var all = new ArrayList<Listed>();
    members.forEach((name, member) -> all.add(new Listed(member, draining.contains(name))));
    return all;
  }
}
