package stoa.node;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.Whereabouts;

/// One connection of a client to a server that has not the store: it is told which one has, as soon
/// as that is known, and the connection ends.
final class Redirection implements StreamObserver<ClientFrame> {
  private final Peers peers;
  private final StreamObserver<ServerFrame> out;
  private boolean asked;
  private volatile boolean over;

  Redirection(Peers peers, ServerCallStreamObserver<ServerFrame> out) {
    this.peers = peers;
    this.out = out;
    out.setOnCancelHandler(() -> over = true);
  }

  @Override
  public void onNext(ClientFrame frame) {
    if (asked) return;
    asked = true;
    var _ = peers.leader().thenAccept(this::tell);
  }

  private void tell(String leader) {
    if (over) return;
    try {
      out.onNext(ServerFrame.newBuilder().setElsewhere(whereabouts(peers, leader)).build());
      out.onCompleted();
    } catch (RuntimeException closed) {
      // The connection is gone.
    }
  }

  static Whereabouts whereabouts(Peers peers, String leader) {
    return Whereabouts.newBuilder().setLeader(leader).addAllServers(peers.servers()).build();
  }

  @Override
  public void onError(Throwable cause) {
    over = true;
  }

  @Override
  public void onCompleted() {
    // What it asked is answered yet.
  }
}
