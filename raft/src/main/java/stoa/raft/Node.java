package stoa.raft;

import java.util.List;
import stoa.Unavailable;
import stoa.log.Replica;
import stoa.storage.Device;

/// One server of an [ConsensusEngine] in a process, with the groups that it hosts. Thread-safe.
public interface Node extends AutoCloseable {
  /// Returns this node's name for others.
  Member self();

  /// Returns a way to ask another node questions; the caller closes it.
  Line line(Member to);

  /// Moves the log of a group to the device of its replica, which is not open: from the node's
  /// directory if it is there, or else a new log begins there. Durable on return. After a crash the
  /// log is whole in one of the two places. It does nothing when the device has it already.
  /// Versions of Stoa that do not know such a log refuse the device afterwards.
  ///
  /// @param device of the replica with which the group is hosted next
  /// @throws stoa.Corrupt when the log is damaged
  /// @throws Unavailable when a disk fails; the log is where it was then
  void moveLog(GroupId name, Device device);

  /// Hosts a group: its log is on the replica's device or in the node's directory, if it was hosted
  /// here before. The node owns the replica from now on, and closes it.
  ///
  /// @param name the group's name at all its members
  /// @param replica empty, or as the last hosting of the group left it
  /// @param initial the members with which a new group begins, the same at each; none when this
  ///   node joins an existing group: then it waits to be added
  /// @param roles receives the events of the replica
  /// @throws Unavailable when the group cannot begin
  Group host(GroupId name, Replica replica, List<Member> initial, Roles roles);

  /// Leaves a group, and closes its replica. When this node hosts the group again, others send it
  /// only the data that its device lacks then.
  ///
  /// @param name of a group of which this node is no longer a member
  void release(GroupId name);

  /// Deletes the remains of a group that is not hosted, so that it can be hosted anew.
  ///
  /// @throws Unavailable when the remains cannot be deleted
  void forget(GroupId name);

  /// Leaves all groups, and closes their replicas. Others go on when they are enough.
  @Override
  void close();
}
