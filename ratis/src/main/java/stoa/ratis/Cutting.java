package stoa.ratis;

import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.jspecify.annotations.Nullable;
import stoa.raft.Reach;

/// Ends the calls of members that a node cannot talk to. Thread-safe.
final class Cutting implements ServerInterceptor {
  private final Reach reach;

  Cutting(Reach reach) {
    this.reach = reach;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    return new ForwardingServerCallListener.SimpleForwardingServerCallListener<>(
        next.startCall(call, headers)) {
      private boolean cut;

      @Override
      public void onMessage(Q message) {
        if (cut) return;
        RaftRpcRequestProto from = from(message);
        if (from == null || reach.reaches(from.getRequestorId().toStringUtf8())) {
          super.onMessage(message);
          return;
        }
        cut = true;
        call.close(Status.UNAVAILABLE.withDescription("cut off"), new Metadata());
      }

      @Override
      public void onHalfClose() {
        if (!cut) super.onHalfClose();
      }
    };
  }

  private static @Nullable RaftRpcRequestProto from(Object message) {
    return switch (message) {
      case AppendEntriesRequestProto append -> append.getServerRequest();
      case RequestVoteRequestProto vote -> vote.getServerRequest();
      case InstallSnapshotRequestProto snapshot -> snapshot.getServerRequest();
      case StartLeaderElectionRequestProto election -> election.getServerRequest();
      case ReadIndexRequestProto read -> read.getServerRequest();
      default -> null;
    };
  }
}
