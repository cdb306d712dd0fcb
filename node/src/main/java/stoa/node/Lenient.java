package stoa.node;

import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCalls;
import java.io.InputStream;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.BackUpRequest;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.ClassFilesRequest;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.ReadSegmentRequest;
import stoa.wire.proto.ReplicateRequest;
import stoa.wire.proto.RetainRequest;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.StoreGrpc;
import stoa.wire.proto.VersionsRequest;
import stoa.wire.proto.WhereRequest;

/// Reads messages such that invalid bytes become a message that is refused like any other invalid
/// one. After an exception in reading, gRPC would write kilobytes into the server's log, as often
/// as a client likes.
///
/// @param strict reads messages
/// @param malformed the message in place of invalid bytes
record Lenient<T>(MethodDescriptor.Marshaller<T> strict, T malformed)
    implements MethodDescriptor.Marshaller<T> {
  private static final ClientFrame NO_FRAME = ClientFrame.newBuilder().build();

  /// Returns the service with messages that are read so.
  static ServerServiceDefinition bind(StoreGrpc.AsyncService service) {
    var converse = reading(StoreGrpc.getConverseMethod(), NO_FRAME);
    var status = reading(StoreGrpc.getStatusMethod(), StatusRequest.getDefaultInstance());
    var cancel = reading(StoreGrpc.getCancelMethod(), CancelRequest.getDefaultInstance());
    var where = reading(StoreGrpc.getWhereMethod(), WhereRequest.getDefaultInstance());
    var join = reading(StoreGrpc.getJoinMethod(), JoinRequest.getDefaultInstance());
    var drain = reading(StoreGrpc.getDrainMethod(), DrainRequest.getDefaultInstance());
    var replicate = reading(StoreGrpc.getReplicateMethod(), ReplicateRequest.getDefaultInstance());
    var accept = reading(StoreGrpc.getAcceptMethod(), AcceptRequest.getDefaultInstance());
    var challenge = reading(StoreGrpc.getChallengeMethod(), ChallengeRequest.getDefaultInstance());
    var versions = reading(StoreGrpc.getVersionsMethod(), VersionsRequest.getDefaultInstance());
    var classFiles =
        reading(StoreGrpc.getClassFilesMethod(), ClassFilesRequest.getDefaultInstance());
    var deploy = reading(StoreGrpc.getDeployMethod(), DeployPart.getDefaultInstance());
    var look = reading(StoreGrpc.getLookMethod(), LookRequest.getDefaultInstance());
    var retain = reading(StoreGrpc.getRetainMethod(), RetainRequest.getDefaultInstance());
    var backUp = reading(StoreGrpc.getBackUpMethod(), BackUpRequest.getDefaultInstance());
    var segment =
        reading(StoreGrpc.getReadSegmentMethod(), ReadSegmentRequest.getDefaultInstance());
    var description =
        ServiceDescriptor.newBuilder(StoreGrpc.SERVICE_NAME)
            .addMethod(converse)
            .addMethod(status)
            .addMethod(cancel)
            .addMethod(where)
            .addMethod(join)
            .addMethod(drain)
            .addMethod(replicate)
            .addMethod(accept)
            .addMethod(challenge)
            .addMethod(versions)
            .addMethod(classFiles)
            .addMethod(deploy)
            .addMethod(look)
            .addMethod(retain)
            .addMethod(backUp)
            .addMethod(segment)
            .build();
    return ServerServiceDefinition.builder(description)
        .addMethod(converse, ServerCalls.asyncBidiStreamingCall(service::converse))
        .addMethod(status, ServerCalls.asyncUnaryCall(service::status))
        .addMethod(cancel, ServerCalls.asyncUnaryCall(service::cancel))
        .addMethod(where, ServerCalls.asyncUnaryCall(service::where))
        .addMethod(join, ServerCalls.asyncUnaryCall(service::join))
        .addMethod(drain, ServerCalls.asyncUnaryCall(service::drain))
        .addMethod(replicate, ServerCalls.asyncUnaryCall(service::replicate))
        .addMethod(accept, ServerCalls.asyncUnaryCall(service::accept))
        .addMethod(challenge, ServerCalls.asyncUnaryCall(service::challenge))
        .addMethod(versions, ServerCalls.asyncUnaryCall(service::versions))
        .addMethod(classFiles, ServerCalls.asyncServerStreamingCall(service::classFiles))
        .addMethod(deploy, ServerCalls.asyncBidiStreamingCall(service::deploy))
        .addMethod(look, ServerCalls.asyncUnaryCall(service::look))
        .addMethod(retain, ServerCalls.asyncUnaryCall(service::retain))
        .addMethod(backUp, ServerCalls.asyncUnaryCall(service::backUp))
        .addMethod(segment, ServerCalls.asyncUnaryCall(service::readSegment))
        .build();
  }

  private static <Q, A> MethodDescriptor<Q, A> reading(MethodDescriptor<Q, A> method, Q malformed) {
    var lenient = new Lenient<>(method.getRequestMarshaller(), malformed);
    return method.toBuilder().setRequestMarshaller(lenient).build();
  }

  /// Whether what came in place of this frame was none.
  @SuppressWarnings("ReferenceEquality") // an empty frame is a good one
  static boolean isMalformed(ClientFrame frame) {
    return frame == NO_FRAME;
  }

  @Override
  public InputStream stream(T value) {
    return strict.stream(value);
  }

  @Override
  public T parse(InputStream stream) {
    try {
      return strict.parse(stream);
    } catch (StatusRuntimeException none) {
      return malformed;
    }
  }
}
