package stoa.client;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import stoa.Forbidden;
import stoa.NotShareable;
import stoa.Unavailable;
import stoa.front.code.CodeVersion;
import stoa.wire.ClassTransfer;
import stoa.wire.proto.ClassFile;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DeployReply;
import stoa.wire.proto.DeployResult;
import stoa.wire.proto.StoreGrpc;

/// Brings the class files of a client to the server that leads a group. One thread uses it.
final class ClassBringer {
  private static final long ANSWER_SECONDS_MAX = 60;

  private final Conversation conversation;
  private final int group;

  ClassBringer(Conversation conversation, int group) {
    this.conversation = conversation;
    this.group = group;
  }

  /// Brings the code of a shared class, or of a class of handlers. Waits for the server.
  ///
  /// @param type the stored name of the type; or [stoa.front.ClassNames#HANDLER] and the name of
  ///   the class of handlers
  /// @throws NotShareable when the server refuses it
  void bring(String type, Class<?> implementation, Class<?> face) {
    var files = new TreeMap<>(CodeVersion.of(implementation).files());
    files.putAll(CodeVersion.of(face).files());
    ServerUrl.Address place = conversation.place();
    if (place == null) {
      throw new Unavailable(
          "the connection is lost, and the class " + face.getName() + " not sent; try again");
    }
    ManagedChannel channel = conversation.channel(place);
    try {
      DeployResult result = send(channel, type, files);
      if (result.getRefusal().isEmpty()) return;
      throw new NotShareable(
          "the server does not take the class "
              + face.getName()
              + " of this program: "
              + result.getRefusal());
    } catch (StatusException failed) {
      if (failed.getStatus().getCode() == Status.Code.PERMISSION_DENIED) {
        throw new Forbidden(String.valueOf(failed.getStatus().getDescription()));
      }
      throw unavailable(face, failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw unavailable(face, interrupted);
    } finally {
      channel.shutdownNow();
    }
  }

  private DeployResult send(ManagedChannel channel, String type, SortedMap<String, byte[]> files)
      throws StatusException, InterruptedException {
    BlockingClientCall<DeployPart, DeployReply> call =
        StoreGrpc.newBlockingV2Stub(channel)
            .withDeadlineAfter(ANSWER_SECONDS_MAX, TimeUnit.SECONDS)
            .deploy();
    var first = DeployPart.newBuilder().setGroup(group).setBrings(true).addTypes(type).build();
    boolean isOpen = call.write(first);
    for (List<ClassFile> part : ClassTransfer.parts(files)) {
      if (isOpen) isOpen = call.write(DeployPart.newBuilder().addAllFiles(part).build());
    }
    if (isOpen) call.halfClose();
    while (true) {
      DeployReply reply = call.read();
      if (reply == null) {
        return DeployResult.newBuilder().setRefusal("the server has ended the request").build();
      }
      if (reply.hasResult()) return reply.getResult();
    }
  }

  private static Unavailable unavailable(Class<?> face, Throwable cause) {
    return new Unavailable(
        "the class " + face.getName() + " did not reach the server: " + cause + "; try again",
        cause);
  }
}
