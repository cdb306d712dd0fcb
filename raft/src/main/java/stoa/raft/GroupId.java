package stoa.raft;

/// The name of a group at all its members.
///
/// @param store the id of its store, so that servers of two stores never take each other for
///   members
/// @param number of the group in the store
public record GroupId(long store, int number) {
  @Override
  public String toString() {
    return "group " + number;
  }
}
