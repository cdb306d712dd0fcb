package stoa.raft.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import stoa.Unavailable;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.raft.ConsensusEngine;
import stoa.raft.GroupId;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.QuestionHandler;
import stoa.raft.Reach;
import stoa.raft.core.LogStore;
import stoa.storage.disk.FileDisk;

/// The consensus on MicroRaft's core.
public final class MicroRaft implements ConsensusEngine {
  private static final String ASIDE = ".before.";

  /// Creates it.
  public MicroRaft() {}

  @Override
  public Node start(NodeConfig config, QuestionHandler questions, Reach reach) {
    return RaftNode.start(config, questions, reach);
  }

  @Override
  public Position continueAlone(NodeConfig config, GroupId name, Replica replica) {
    RaftNode.requireOwnLogs(config);
    ReplicaLog log = replica.log();
    if (log != null) return continueAlone(config, name, replica, log);
    Path folder = RaftNode.logFolder(config, name);
    try {
      var disk = new FileDisk(folder);
      if (!LogStore.exists(disk)) return replica.sync(); // it was put aside before
      boolean isMember = LogStore.replay(disk, config.id(), replica);
      Position reached = replica.sync();
      if (!isMember) throw noMember(folder, name);
      // A new log begins at the replica's position.
      Path aside = folder.resolveSibling(folder.getFileName() + ASIDE + reached.index());
      Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
      disk.close();
      return reached;
    } catch (IOException failed) {
      throw new Unavailable(
          folder
              + " cannot be read: "
              + failed
              + "; take the directory of another server that is left, or put this log back",
          failed);
    }
  }

  private static Position continueAlone(
      NodeConfig config, GroupId name, Replica replica, ReplicaLog log) {
    if (log.head() == null) return replica.sync(); // it was done before
    boolean isMember = LogStore.replay(log, config.id(), replica);
    if (!isMember) throw noMember(config.directory(), name);
    log.reset();
    return replica.sync();
  }

  private static Unavailable noMember(Path folder, GroupId name) {
    return new Unavailable(
        folder
            + " is of a server that was to become a member of "
            + name
            + " and was none yet; take the directory of another server that is left");
  }
}
