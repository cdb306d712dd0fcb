package stoa.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import stoa.objects.CodeService;
import stoa.wire.ClassTransfer;
import stoa.wire.proto.ClassFilesRequest;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DeployResult;
import stoa.wire.proto.Finding;
import stoa.wire.proto.VersionStatus;
import stoa.wire.proto.VersionsReply;
import stoa.wire.proto.VersionsRequest;
import stoa.wire.proto.WhereRequest;

/// The code of shared types in a store that servers have open. One owner uses it.
///
/// Each group has the versions of the code in its own log. So every request goes to the leader of
/// every group, one after the other.
final class ServedCode {
  private final Operator operator;
  private final boolean trusted;
  private final int groups;

  /// Creates it.
  ///
  /// @throws IllegalArgumentException when no server answers
  ServedCode(Operator operator) {
    this(operator, false);
  }

  /// Creates it.
  ///
  /// @param trusted whether classes may do whatever the server may do
  /// @throws IllegalArgumentException when no server answers
  ServedCode(Operator operator, boolean trusted) {
    this.operator = operator;
    this.trusted = trusted;
    var asked = WhereRequest.getDefaultInstance();
    groups = operator.ask(server -> server.where(asked)).getGroups();
    if (groups == 0) {
      throw new IllegalArgumentException(
          "the server does not know yet how many groups keep the store; try again");
    }
  }

  /// Returns how many groups keep the store.
  int groups() {
    return groups;
  }

  /// Returns the versions of each group.
  ///
  /// @throws IllegalArgumentException when a group does not answer
  List<List<VersionStatus>> versions() {
    var versions = new ArrayList<List<VersionStatus>>();
    for (int group = 0; group < groups; group++) {
      var asked = VersionsRequest.newBuilder().setGroup(group).build();
      VersionsReply reply = operator.ask(group, server -> server.versions(asked));
      if (!reply.getRefusal().isEmpty()) throw new IllegalArgumentException(reply.getRefusal());
      versions.add(reply.getVersionsList());
    }
    return versions;
  }

  /// Returns the class files of a version.
  ///
  /// @param group one that has it
  /// @throws IllegalArgumentException when the group does not answer
  SortedMap<String, byte[]> files(int group, String type, String version) {
    var asked =
        ClassFilesRequest.newBuilder().setGroup(group).setType(type).setVersion(version).build();
    return operator.ask(
        group,
        server -> {
          var files = new ClassTransfer();
          server.classFiles(asked, files::add);
          return files.files();
        });
  }

  /// Tries class files on the objects of all groups, and on their last calls.
  ///
  /// @param objectsMax how many objects of each type to try in a group at most; 0 for all
  /// @param accepted the losses that are accepted
  /// @throws IllegalArgumentException when a group does not answer, or refuses to try them
  CodeFindings check(
      SharedClasses classes, long objectsMax, Set<String> accepted, CodeProgress progress) {
    return check(classes, objectsMax, true, accepted, progress);
  }

  private CodeFindings check(
      SharedClasses classes,
      long objectsMax,
      boolean replays,
      Set<String> accepted,
      CodeProgress progress) {
    var findings = new CodeFindings();
    for (int group = 0; group < groups; group++) {
      DeployPart first =
          first(classes.types())
              .setGroup(group)
              .setObjectsMax(objectsMax)
              .setReplays(replays)
              .addAllAccepted(accepted)
              .build();
      DeployResult result = send(first, classes.files(), progress);
      if (!result.getRefusal().isEmpty()) throw new IllegalArgumentException(result.getRefusal());
      findings.add(found(result));
    }
    return findings;
  }

  /// Deploys classes: they execute all calls from now on, in all groups, if they fit all objects.
  ///
  /// @param accepted the losses that are accepted
  /// @return what was found; nothing is deployed if it does not fit
  /// @throws IllegalArgumentException when a group does not answer or refuses; the message tells
  ///   which groups have the classes already
  CodeFindings deploy(SharedClasses classes, Set<String> accepted, CodeProgress progress) {
    var before = new CodeFindings();
    if (groups > 1) {
      before = check(classes, 0, false, accepted, progress);
      if (!before.fit()) return before;
    }
    var findings = new CodeFindings();
    for (int group = 0; group < groups; group++) {
      var here = new TreeSet<>(accepted);
      if (groups > 1) here.removeAll(before.superfluous(group));
      DeployPart first =
          first(classes.types()).setGroup(group).setDeploys(true).addAllAccepted(here).build();
      DeployResult result;
      try {
        result = send(first, classes.files(), progress);
      } catch (IllegalArgumentException silent) {
        throw partly(group, String.valueOf(silent.getMessage()));
      }
      if (!result.getRefusal().isEmpty()) throw partly(group, result.getRefusal());
      findings.add(found(result));
      if (result.getDeployed()) continue;
      if (group == 0) return findings;
      var changed = new CodeFindings();
      changed.add(found(result));
      throw partly(group, "its objects have changed since they were tried: " + changed);
    }
    return findings;
  }

  private static CodeService.Result found(DeployResult result) {
    var findings =
        result.getFindingsList().stream()
            .map(one ->
                new CodeService.Finding(
                    one.getType(),
                    kind(one.getKind()),
                    one.getObjects(),
                    one.getUnfit(),
                    one.getReason(),
                    new CodeService.ReplayedCalls(
                        one.getCalls(), one.getCallsDifferent(), one.getFirstDifferent())))
            .toList();
    return new CodeService.Result(findings, Set.copyOf(result.getSuperfluousList()));
  }

  private static CodeService.Kind kind(Finding.Kind kind) {
    return switch (kind) {
      case NEW -> CodeService.Kind.NEW;
      case SAME -> CodeService.Kind.ACTIVE;
      case CHANGED -> CodeService.Kind.CHANGED;
      case REFUSED, UNKNOWN, UNRECOGNIZED -> CodeService.Kind.REFUSED;
    };
  }

  private DeployPart.Builder first(SortedSet<String> types) {
    return DeployPart.newBuilder().addAllTypes(types).setTrusted(trusted);
  }

  private IllegalArgumentException partly(int group, String why) {
    if (group == 0) return new IllegalArgumentException(why + "; nothing was deployed");
    String have = group == 1 ? "group 0 executes" : "groups 0 to " + (group - 1) + " execute";
    return new IllegalArgumentException(
        "%s what is called with the new code, group %d and later ones of %d with the code before: %s. Run the command again; a group that has the code keeps it"
            .formatted(have, group, groups, why));
  }

  private DeployResult send(
      DeployPart first, SortedMap<String, byte[]> files, CodeProgress progress) {
    progress.nextGroup();
    return operator.askLong(
        first.getGroup(), server -> server.deploy(first, files, progress::tried));
  }
}
