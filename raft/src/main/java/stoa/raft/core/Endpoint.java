package stoa.raft.core;

import io.microraft.RaftEndpoint;
import stoa.raft.Member;

/// A member, as MicroRaft names it. Two with one id are equal, whatever their addresses are.
///
/// @param member the member
record Endpoint(Member member) implements RaftEndpoint {
  /// The members with which MicroRaft believes that every group began. The first members are those
  /// of the position at which the log begins: what MicroRaft forbids to its initial members, such
  /// as coming back, it forbids to nobody.
  static final Endpoint NOBODY = new Endpoint(new Member("nobody", "-", 0, 0));

  @Override
  public Object getId() {
    return member.id();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Endpoint endpoint && endpoint.member.id().equals(member.id());
  }

  @Override
  public int hashCode() {
    return member.id().hashCode();
  }

  @Override
  public String toString() {
    return member.id();
  }
}
