package stoa.ratis;

import stoa.log.Position;
import stoa.log.Replica;
import stoa.raft.Engine;
import stoa.raft.GroupId;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.Questions;
import stoa.raft.Reach;

/// The engine on Apache Ratis.
public final class Ratis implements Engine {
  /// Creates it.
  public Ratis() {}

  @Override
  public Node start(NodeConfig config, Questions questions, Reach reach) {
    return RatisNode.start(config, questions, reach);
  }

  @Override
  public Position continueAlone(NodeConfig config, GroupId name, Replica replica) {
    return Survivor.begin(config, name, replica);
  }

  @Override
  public void follow(NodeConfig config, GroupId name, Position position) {
    Survivor.follow(config, name, position);
  }
}
