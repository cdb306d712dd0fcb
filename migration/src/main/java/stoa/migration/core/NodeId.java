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

  /// The host of its process, by which nodes that are near each other are known; the whole address
  /// when there is none in it.
  public String host() {
    int from = address.indexOf("://");
    if (from < 0) return address;
    int to = address.indexOf('/', from + 3);
    String place = to < 0 ? address.substring(from + 3) : address.substring(from + 3, to);
    int port = place.lastIndexOf(':');
    return port <= place.indexOf(']') ? place : place.substring(0, port);
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
