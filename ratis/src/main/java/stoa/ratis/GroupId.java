package stoa.ratis;

/// What a group is called at all its members.
///
/// @param store the id of the store that it is part of, so that servers of two stores never take
///   each other for members
/// @param number of the group in the store
public record GroupId(long store, int number) {
  @Override
  public String toString() {
    return "group " + number;
  }
}
