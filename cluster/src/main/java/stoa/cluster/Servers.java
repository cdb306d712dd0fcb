package stoa.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.Accessor;
import stoa.Shared;
import stoa.objects.Part;

/// The servers of a store: a shared object of the store itself, in group 0. The leader of that
/// group calls it.
@Shared(name = Part.SERVERS)
class Servers {
  /// The key of the only instance.
  static final String KEY = "servers";

  // More of them were dismissed while they did not answer only when most are gone for good.
  private static final int UNTOLD_MAX = 32;

  private final TreeMap<String, String> members = new TreeMap<>();
  private final TreeSet<String> draining = new TreeSet<>();

  // The members that were dismissed while they did not answer, by their names.
  private final TreeMap<String, String> untold = new TreeMap<>();

  // 0 while the number is that with which the store began.
  private int replicas;

  /// A server.
  ///
  /// @param member its address, as [stoa.raft.Member] writes it
  /// @param drains whether it must lose all that it has
  record Listed(String member, boolean drains) {}

  /// The list.
  ///
  /// @param servers all of them, by their names
  /// @param replicas how many servers should execute the calls of each group; 0 when no operator
  ///   has changed it since the store began
  /// @param untold those that were dismissed and do not know of it, written as the others
  record State(List<Listed> servers, int replicas, List<String> untold) {}

  protected Servers() {}

  /// Adds a server; no effect when it is one of them.
  void add(String name, String member) {
    members.put(name, member);
    untold.remove(name);
  }

  /// Marks a server to lose all that it has, and then to be dismissed.
  void drain(String name) {
    if (members.containsKey(name)) draining.add(name);
  }

  /// Removes a server that does not know of it.
  void dismissUnheard(String name) {
    String member = members.get(name);
    dismiss(name);
    if (member == null) return;
    if (untold.size() >= UNTOLD_MAX) untold.pollFirstEntry();
    untold.put(name, member);
  }

  /// Notes that a dismissed server knows of it.
  void told(String name) {
    untold.remove(name);
  }

  /// Removes a server.
  void dismiss(String name) {
    members.remove(name);
    draining.remove(name);
  }

  /// Sets how many servers should execute the calls of each group.
  void setReplicas(int number) {
    replicas = number;
  }

  /// Returns the list.
  @Accessor
  State state() {
    var all = new ArrayList<Listed>();
    members.forEach((name, member) -> all.add(new Listed(member, draining.contains(name))));
    return new State(all, replicas, List.copyOf(untold.values()));
  }
}
