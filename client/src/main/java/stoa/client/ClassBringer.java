package stoa.client;

import java.util.TreeMap;
import stoa.Forbidden;
import stoa.NotShareable;
import stoa.Unavailable;
import stoa.front.code.CodeVersion;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.SingleRequests;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DeployResult;

/// Brings the class files of a client to the server that leads a group. One thread uses it.
final class ClassBringer {
  private static final long ANSWER_MILLIS_MAX = 60_000;

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
    Address place = conversation.place();
    if (place == null) {
      throw new Unavailable(
          "the connection is lost, and the class " + face.getName() + " not sent; try again");
    }
    Channel channel = conversation.channel(place);
    var asked = DeployPart.newBuilder().setGroup(group).setBrings(true).addTypes(type).build();
    try {
      DeployResult result =
          new SingleRequests(channel, ANSWER_MILLIS_MAX).deploy(asked, files, tried -> {});
      if (result.getRefusal().isEmpty()) return;
      throw new NotShareable(
          "the server does not take the class "
              + face.getName()
              + " of this program: "
              + result.getRefusal());
    } catch (StatusException failed) {
      if (failed.status().code() == Status.Code.PERMISSION_DENIED) {
        throw new Forbidden(String.valueOf(failed.status().description()));
      }
      throw unavailable(face, failed);
    } finally {
      channel.cut();
    }
  }

  private static Unavailable unavailable(Class<?> face, Throwable cause) {
    return new Unavailable(
        "the class " + face.getName() + " did not reach the server: " + cause + "; try again",
        cause);
  }
}
