package stoa.migration.core;

/// A process in the tree, from when it joins until it leaves or is disconnected. Who comes back
/// comes under a new number: nothing that was sent to, or by, the one before counts.
///
/// @param address where the process can be reached; one that begins with [#LEAF] is of a process
///   that cannot be: it has no children
/// @param number what no other node of this address has, or had
public record NodeId(String address, long number) implements Comparable<NodeId> {
  /// How the address of a process begins that others cannot reach.
  public static final String LEAF = "leaf://";

  /// Whether it has no children, since nobody can reach it.
  public boolean isLeaf() {
    return address.startsWith(LEAF);
  }

  @Override
  public int compareTo(NodeId other) {
    int byAddress = address.compareTo(other.address);
    return byAddress != 0 ? byAddress : Long.compare(number, other.number);
  }

  @Override
  public String toString() {
    return address + "#" + number;
  }
}
