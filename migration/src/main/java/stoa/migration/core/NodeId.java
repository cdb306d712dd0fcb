package stoa.migration.core;

/// A process in the tree, from when it joins until it leaves or is disconnected. A process that
/// returns has a new number: no message to or from its earlier number counts.
///
/// @param address where the process can be reached; one that begins with [#LEAF] belongs to a
///   process that cannot be reached: it has no children
/// @param number unique among all nodes of this address, past ones included
public record NodeId(String address, long number) implements Comparable<NodeId> {
  /// The beginning of the address of a process that others cannot reach.
  public static final String LEAF = "leaf://";

  /// Returns whether it has no children, since no node can reach it.
  public boolean isLeaf() {
    return address.startsWith(LEAF);
  }

  @Override
  public int compareTo(NodeId other) {
    int byAddress = address.compareTo(other.address);
    return byAddress != 0 ? byAddress : Long.compare(number, other.number);
  }

  /// Returns the node with a name, as [#toString] returns it.
  public static NodeId named(String name) {
    int at = name.lastIndexOf('#');
    return new NodeId(name.substring(0, at), Long.parseLong(name.substring(at + 1)));
  }

  @Override
  public String toString() {
    return address + "#" + number;
  }
}
