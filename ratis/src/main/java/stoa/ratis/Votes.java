package stoa.ratis;

import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.jspecify.annotations.Nullable;

/// Checks the requests for a vote to a node, before Ratis gets them. Thread-safe.
final class Votes implements ServerInterceptor {
  /// Decides about requests.
  interface Rule {
    /// Returns why this node does not vote for a candidate; null when Ratis must decide.
    ///
    /// @param last the index of the end of the candidate's log; -1 when it is empty
    @Nullable String refusal(RaftGroupId group, String candidate, long last);
  }

  private static final String METHOD = "requestVote";
  private static final int GROUP_BYTES = 16;

  private final Rule rule;

  Votes(Rule rule) {
    this.rule = rule;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    ServerCall.Listener<Q> listener = next.startCall(call, headers);
    if (!METHOD.equals(call.getMethodDescriptor().getBareMethodName())) return listener;
    return new ForwardingServerCallListener.SimpleForwardingServerCallListener<>(listener) {
      private boolean refused;

      @Override
      public void onMessage(Q message) {
        String refusal =
            message instanceof RequestVoteRequestProto request ? refusal(request) : null;
        if (refusal == null) {
          super.onMessage(message);
        } else {
          refused = true;
          call.close(Status.FAILED_PRECONDITION.withDescription(refusal), new Metadata());
        }
      }

      @Override
      public void onHalfClose() {
        if (!refused) super.onHalfClose();
      }
    };
  }

  private @Nullable String refusal(RequestVoteRequestProto request) {
    var from = request.getServerRequest();
    if (from.getRaftGroupId().getId().size() != GROUP_BYTES) return null;
    return rule.refusal(
        RaftGroupId.valueOf(from.getRaftGroupId().getId()),
        from.getRequestorId().toStringUtf8(),
        request.hasCandidateLastEntry() ? request.getCandidateLastEntry().getIndex() : -1);
  }
}
