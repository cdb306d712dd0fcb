package stoa.migration.core;

/// A process in the tree, from when it joins until it leaves or is disconnected. Who comes back
/// comes under a new number: nothing that was sent to, or by, the one before counts.
///
/// @param address where the process can be reached
/// @param number what no other node of this address has, or had
public record NodeId(String address, long number) implements Comparable<NodeId> {
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
