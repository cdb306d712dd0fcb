package stoa.node;

import org.jspecify.annotations.Nullable;
import stoa.wire.Rpc;
import stoa.wire.proto.AcceptReply;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.BackUpReply;
import stoa.wire.proto.BackUpRequest;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DeployReply;
import stoa.wire.proto.DeployResult;
import stoa.wire.proto.DrainReply;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinReply;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.Release;
import stoa.wire.proto.ReplicateReply;
import stoa.wire.proto.ReplicateRequest;
import stoa.wire.proto.RetainReply;
import stoa.wire.proto.RetainRequest;

/// The words for the commands of operators, and for their outcomes. Stateless.
final class Commands {
  private Commands() {}

  /// Returns the words for a command; null for a request that changes nothing.
  ///
  /// @param message its first message
  static @Nullable String command(Rpc rpc, Object message) {
    return switch (rpc) {
      case CONVERSE, STATUS, WHERE, CHALLENGE, VERSIONS, CLASS_FILES, LOOK, READ_SEGMENT, TREE ->
          null;
      case CANCEL -> {
        var asked = (CancelRequest) message;
        yield asked.getSession() == 0
            ? "cancel " + asked.getId()
            : "end session " + Long.toUnsignedString(asked.getSession());
      }
      case JOIN -> {
        var asked = (JoinRequest) message;
        yield "join " + asked.getServer() + " at " + asked.getMember();
      }
      case DRAIN -> "drain " + ((DrainRequest) message).getServer();
      case REPLICATE -> "replicas " + ((ReplicateRequest) message).getReplicas();
      case ACCEPT -> {
        var asked = (AcceptRequest) message;
        yield "accept " + (asked.getAll() ? "all objects in quarantine" : asked.getObject());
      }
      case DEPLOY -> deploy((DeployPart) message);
      case RETAIN -> {
        var asked = (RetainRequest) message;
        if (asked.hasRelease()) yield trim(asked.getRelease());
        yield asked.getRulesCount() == 0 ? null : "keep " + String.join(" ", asked.getRulesList());
      }
      case BACK_UP -> "backup";
    };
  }

  /// Returns the words for the first page of a release; null for the pages behind it.
  private static @Nullable String trim(Release asked) {
    if (asked.getSkip() > 0) return null;
    String what = asked.getKey().isEmpty() ? "" : " (one object)";
    return "trim " + asked.getType() + what + " to " + asked.getVersions() + " versions";
  }

  private static @Nullable String deploy(DeployPart first) {
    if (!first.getDeploys() && !first.getBrings()) return null;
    var words = new StringBuilder(first.getBrings() ? "bring" : "deploy");
    for (String type : first.getTypesList()) words.append(' ').append(type);
    for (String loss : first.getAcceptedList())
      words.append(" accepting \"").append(loss).append('"');
    return first.getTrusted() ? words.append(" as trusted code").toString() : words.toString();
  }

  /// Returns the group that a message concerns; 0 for the whole store.
  static int group(Object message) {
    return switch (message) {
      case CancelRequest asked -> asked.getGroup();
      case AcceptRequest asked -> asked.getGroup();
      case DeployPart asked -> asked.getGroup();
      case RetainRequest asked -> asked.getGroup();
      case BackUpRequest asked -> asked.getGroup();
      default -> 0;
    };
  }

  /// Returns the words for the outcome of a command.
  ///
  /// @param reply the last message of the server
  static String outcome(Object reply) {
    String refusal =
        switch (reply) {
          case CancelReply said -> said.getWhy();
          case JoinReply said -> said.getRefusal();
          case DrainReply said -> said.getRefusal();
          case ReplicateReply said -> said.getRefusal();
          case AcceptReply said -> said.getRefusal();
          case RetainReply said -> said.getRefusal();
          case BackUpReply said -> said.getRefusal();
          case DeployReply said -> said.hasResult() ? refusal(said.getResult()) : "";
          default -> "";
        };
    return refusal.isEmpty() ? AuditEntry.DONE : refusal;
  }

  private static String refusal(DeployResult result) {
    if (!result.getRefusal().isEmpty() || result.getDeployed()) return result.getRefusal();
    for (var finding : result.getFindingsList()) {
      if (!finding.getReason().isEmpty()) return finding.getType() + ": " + finding.getReason();
    }
    return "nothing was deployed";
  }
}
