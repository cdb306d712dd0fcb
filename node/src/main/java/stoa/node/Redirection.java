package stoa.node;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.Whereabouts;

/// One connection of a client to a server that has not the store: whatever it says, it is told
/// which one has, as soon as that is known, and the connection ends.
final class Redirection implements StreamObserver<ClientFrame> {
  private final Peers peers;
  private final StreamObserver<ServerFrame> out;
  private volatile boolean over;

  private Redirection(Peers peers, ServerCallStreamObserver<ServerFrame> out) {
    this.peers = peers;
    this.out = out;
    out.setOnCancelHandler(() -> over = true);
  }

  /// @param group whose part of the store the client asks for
  /// @param timeMax how long the client is kept until somebody has the store
  static Redirection begin(
      Peers peers, int group, ServerCallStreamObserver<ServerFrame> out, Duration timeMax) {
    var redirection = new Redirection(peers, out);
    var _ =
        peers
            .leader(group)
            .orTimeout(timeMax.toMillis(), TimeUnit.MILLISECONDS)
            .whenComplete((leader, late) -> {
              if (late == null) redirection.tell(leader);
              else redirection.refuse();
            });
    return redirection;
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

  private void refuse() {
    if (over) return;
    try {
      out.onError(nobody());
    } catch (RuntimeException closed) {
      // The connection is gone.
    }
  }

  static StatusRuntimeException nobody() {
    return Status.UNAVAILABLE
        .withDescription("no server has the store: fewer than half of them are there, maybe")
        .asRuntimeException();
  }

  static Whereabouts whereabouts(Peers peers, String leader) {
    return Whereabouts.newBuilder()
        .setLeader(leader)
        .addAllServers(peers.servers())
        .setGroups(peers.groups())
        .build();
  }

  @Override
  public void onNext(ClientFrame frame) {
    // Whoever has the store hears it.
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
