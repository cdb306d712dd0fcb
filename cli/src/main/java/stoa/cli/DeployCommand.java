package stoa.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.wire.proto.VersionStatus;

/// `stoa deploy`: other classes execute what is called from now on.
@Command(
    name = "deploy",
    description =
        "Has the shared classes of jar files execute what is called from now on, while clients"
            + " call. Tries them on all objects first, and changes nothing when one does not fit.",
    footer = {
      "",
      "The past keeps its code: earlier calls, and the history that they make, are",
      "executed by the classes that executed them first. --rollback is a deployment of",
      "the version before, with the same checks.",
      "",
      "A refusal names each loss. --accept with these words deploys the classes all the",
      "same; --list shows what was accepted. What is accepted is lost for later classes",
      "too.",
      "",
      "The servers run the deployed classes, and refuse code that reaches beyond the",
      "objects of the store, unless --trusted-code is given. Only clients with the role",
      "deploy can deploy, when the servers have --identities.",
      "",
      "In a store of several groups the classes go to each group in turn, after all of",
      "them have tried the classes. If a group cannot be reached in between, the others",
      "have the new code already; run the command again."
    })
final class DeployCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(
      paramLabel = "JAR|DIR",
      arity = "0..*",
      description = "Jar files and directories with the shared classes and what these need.")
  private List<Path> path = new ArrayList<>();

  @Option(names = "--list", description = "List the versions of each type and deploy nothing.")
  private boolean lists;

  @Option(
      names = "--rollback",
      paramLabel = "TYPE",
      description = "Deploy the version of a type before the one that is active.")
  private @Nullable String rollback;

  @Option(
      names = "--to",
      paramLabel = "VERSION",
      description = "With --rollback: another version, as --list names it.")
  private @Nullable String version;

  @Mixin private AcceptedLosses accepted = new AcceptedLosses();
  @Mixin private TrustedCode trusted = new TrustedCode();

  private DeployCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    int asked = (path.isEmpty() ? 0 : 1) + (lists ? 1 : 0) + (rollback == null ? 0 : 1);
    if (asked != 1) {
      throw new ParameterException(
          commandLine, "give one of: jar files or directories, --list, --rollback TYPE");
    }
    String type = rollback;
    if (version != null && type == null) {
      throw new ParameterException(commandLine, "--to goes with --rollback TYPE");
    }
    PrintWriter out = commandLine.getOut();
    if (lists && !accepted.losses().isEmpty()) {
      throw new ParameterException(commandLine, "--accept goes with a deployment, not with --list");
    }
    if (lists) {
      list(out, code());
      return 0;
    }
    if (type == null) {
      SharedClasses classes = SharedClasses.of(path);
      if (CheckCommand.refuses(commandLine, classes)) return 1;
      return deploy(code(), classes);
    }
    ServedCode code = code();
    return deploy(code, earlier(code, type));
  }

  private ServedCode code() {
    return new ServedCode(operator, trusted.isGiven());
  }

  private int deploy(ServedCode code, SharedClasses classes) {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    CodeFindings findings;
    try (var progress = new CodeProgress(commandLine.getErr())) {
      findings = code.deploy(classes, accepted.losses(), progress);
    }
    findings.print(commandLine.getOut());
    if (findings.fit()) return 0;
    commandLine.getErr().println("stoa: nothing was deployed");
    return 1;
  }

  // ---- versions

  /// Prints the versions of each type, the oldest first.
  private static void list(PrintWriter out, ServedCode code) {
    List<List<VersionStatus>> groups = code.versions();
    var types = new TreeSet<String>();
    groups.forEach(group -> group.forEach(one -> types.add(one.getType())));
    if (types.isEmpty()) out.println("no shared type has been used");
    for (String type : types) {
      var active = active(groups, type);
      var versions = new LinkedHashMap<String, Set<String>>(); // with the accepted losses
      for (List<VersionStatus> group : groups) {
        for (VersionStatus one : group) {
          if (!one.getType().equals(type)) continue;
          versions
              .computeIfAbsent(one.getVersion(), _ -> new TreeSet<>())
              .addAll(one.getAcceptedList());
        }
      }
      out.println(type);
      for (String version : versions.keySet()) {
        var in = active.entrySet().stream().filter(one -> one.getValue().equals(version)).toList();
        String where =
            in.isEmpty()
                ? ""
                : in.size() == active.size()
                    ? "  active"
                    : "  active in groups " + in.stream().map(Map.Entry::getKey).toList();
        out.println("  " + version + where);
        for (String loss : Objects.requireNonNull(versions.get(version))) {
          out.println("    accepted: " + loss);
        }
      }
    }
    out.flush();
  }

  /// Returns the active version of a type by the group, of the groups that know the type.
  private static Map<Integer, String> active(List<List<VersionStatus>> groups, String type) {
    var active = new TreeMap<Integer, String>();
    for (int group = 0; group < groups.size(); group++) {
      for (VersionStatus one : groups.get(group)) {
        if (one.getType().equals(type) && one.getActive()) active.put(group, one.getVersion());
      }
    }
    return active;
  }

  /// Returns the classes of the version that is to become active again.
  ///
  /// @throws IllegalArgumentException when it is not known which one that is
  private SharedClasses earlier(ServedCode code, String type) {
    List<List<VersionStatus>> groups = code.versions();
    var has = new LinkedHashMap<String, Integer>(); // a group that has the version
    var before = new LinkedHashSet<String>();
    for (int group = 0; group < groups.size(); group++) {
      var own = groups.get(group).stream().filter(one -> one.getType().equals(type)).toList();
      for (VersionStatus one : own) has.putIfAbsent(one.getVersion(), group);
      if (own.size() > 1) before.add(own.get(own.size() - 2).getVersion());
    }
    String target = version != null ? version : only(type, before, active(groups, type));
    Integer group = has.get(target);
    if (group == null) {
      throw new IllegalArgumentException(
          type + " has no version " + target + "; ./stoa deploy --list shows all");
    }
    var types = new TreeSet<>(Set.of(type));
    return new SharedClasses(types, code.files(group, type, target), List.of());
  }

  private static String only(String type, Set<String> before, Map<Integer, String> active) {
    if (active.isEmpty()) {
      throw new IllegalArgumentException(
          "the store has no type " + type + "; ./stoa deploy --list shows all");
    }
    if (before.isEmpty()) {
      throw new IllegalArgumentException(
          type + " has no version before " + active.values().iterator().next());
    }
    if (before.size() == 1 && new TreeSet<>(active.values()).size() == 1) {
      return before.iterator().next();
    }
    throw new IllegalArgumentException(
        "the groups of the store have different versions of "
            + type
            + "; name the one that is to execute what is called from now on: --rollback "
            + type
            + " --to VERSION. ./stoa deploy --list shows all");
  }
}
