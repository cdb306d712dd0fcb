package stoa.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.programs.Words;
import stoa.wire.proto.CallStatus;
import stoa.wire.proto.ListenerStatus;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.QuarantineStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.SessionStatus;
import stoa.wire.proto.ShardStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.TimerStatus;
import stoa.wire.proto.TreeStatus;

/// `stoa status`: the state of a server.
@Command(
    name = "status",
    description =
        "Shows the state of a server: its sessions, and the calls that run and wait. Exits with 0"
            + " when the server can serve, and with 1 when it cannot be reached or its store has"
            + " failed.")
final class StatusCommand implements Callable<Integer> {
  private static final int ROWS_MAX = 40;
  private static final String SILENT = "does not answer";

  // The states of servers that do not answer.
  private static final Set<String> SILENT_STATES = Set.of(SILENT, "away", "lost");

  // The leader of group 0 tells all servers their state twice a second.
  private static final long AGE_MILLIS_MAX = 5_000;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--group",
      paramLabel = "N",
      description = "The group of the sessions and calls, in a store of several groups. Default: 0")
  private int group;

  @Option(
      names = "--json",
      description = "Prints JSON: the fields of StatusReply in the protocol, with all sessions.")
  private boolean json;

  private StatusCommand() {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    StatusReply status =
        operator.ask(
            group, server -> server.status(StatusRequest.newBuilder().setGroup(group).build()));
    if (json) {
      Json.print(out, Json.of(status));
      return status.getFailure().isEmpty() ? 0 : 1;
    }
    if (!status.getData().isEmpty()) out.printf("%-10s %s%n", "store", status.getData());
    out.printf("%-10s %s%n", "up", Words.seconds(Duration.ofMillis(status.getUpMillis())));
    if (!status.getFailure().isEmpty()) {
      out.printf("%-10s %s; the server takes no calls, and ends%n", "FAILED", status.getFailure());
    }
    if (status.getShardsCount() > 0) work(out, status);
    servers(out, status);
    for (String alarm : status.getAlarmsList()) out.printf("%nalarm: %s%n", alarm);
    quarantined(out, status.getQuarantinedList());
    var trees = new LinkedHashMap<String, List<TreeStatus>>();
    for (var member : status.getTreeList()) {
      trees.computeIfAbsent(member.getDomain(), _ -> new ArrayList<>()).add(member);
    }
    trees.forEach((domain, members) -> tree(out, domain, members));
    sessions(out, status.getSessionsList());
    calls(out, status.getCallsList());
    out.flush();
    return status.getFailure().isEmpty() ? 0 : 1;
  }

  /// Prints the work of the server that has the store.
  private static void work(PrintWriter out, StatusReply status) {
    long counter = status.getShards(0).getCounter();
    long bytes = status.getShardsList().stream().mapToLong(ShardStatus::getLogBytes).sum();
    out.printf(
        Locale.ROOT,
        "%-10s at %s, %s written to %s, %,.0f syncs a second%n",
        "log",
        Words.count(counter),
        Words.bytes(bytes),
        Words.count(status.getShardsCount(), "device"),
        status.getSyncsPerSecond());
    disk(out, status.getShardsList());
    out.printf("%-10s %s%n", "objects", Words.count(status.getObjectsInMemory()) + " in memory");
    out.printf(
        Locale.ROOT,
        "%-10s %s answered, %,.0f a second%n",
        "requests",
        Words.count(status.getCallsAnswered()),
        status.getCallsPerSecond());
    if (status.hasTimers()) timers(out, status.getTimers());
    if (status.hasListeners()) listeners(out, status.getListeners());
  }

  private static void listeners(PrintWriter out, ListenerStatus listeners) {
    out.printf(
        "%-10s %s, %s failing, up to %s behind the log%n",
        "listeners",
        Words.count(listeners.getCount()),
        Words.count(listeners.getFailing()),
        Words.count(listeners.getLag()));
  }

  private static void timers(PrintWriter out, TimerStatus timers) {
    String overdue =
        timers.getOverdue() == 0
            ? ""
            : ", "
                + Words.count(timers.getOverdue())
                + " overdue by up to "
                + Words.millis(Duration.ofNanos(1_000 * timers.getLagMicros()));
    out.printf(
        "%-10s %s%s; %s made, %s failed, %s ended%n",
        "timers",
        Words.count(timers.getCount()),
        overdue,
        Words.count(timers.getFired(), "call"),
        Words.count(timers.getFailed()),
        Words.count(timers.getEnded(), "object"));
  }

  private static void disk(PrintWriter out, List<ShardStatus> shards) {
    long used = shards.stream().mapToLong(ShardStatus::getUsedBytes).sum();
    long quota = shards.stream().mapToLong(ShardStatus::getQuotaBytes).sum();
    long free = shards.stream().mapToLong(ShardStatus::getFreeBytes).min().orElse(0);
    var text = new StringBuilder(Words.bytes(used)).append(" used");
    if (quota > 0) text.append(" of a quota of ").append(Words.bytes(quota));
    if (free > 0) text.append(", ").append(Words.bytes(free)).append(" free");
    out.printf("%-10s %s%n", "disk", text);
  }

  private void servers(PrintWriter out, StatusReply status) {
    List<ServerStatus> servers = status.getServersList();
    int groups = status.getGroups();
    if (servers.isEmpty()) return;
    boolean old = status.getServersAgeMillis() > AGE_MILLIS_MAX;
    out.printf("%n%s", Words.count(servers.size(), "server"));
    if (old) {
      out.printf(
          ", as this one knew them %s ago: group 0 has no leader, which knows the others",
          Words.seconds(Duration.ofMillis(status.getServersAgeMillis())));
    }
    out.println();
    out.printf("%16s  %-24s %-15s %8s %8s%n", "server", "clients at", "", "replicas", "leads");
    Set<String> silent = new HashSet<>();
    for (ServerStatus server : servers) {
      String state = server.getState();
      if (old || (state.isEmpty() && isBehind(server))) {
        // The servers have not noticed yet that one has ended.
        boolean answers = operator.answers(server.getClientAddress());
        if (!answers) state = SILENT;
        else if (old) state = "answers";
      }
      if (SILENT_STATES.contains(state)) silent.add(server.getServer());
      out.printf(
          "%16s  %-24s %-15s %8s %8s%n",
          server.getServer(),
          server.getClientAddress(),
          state,
          Words.count(server.getGroupsCount()),
          Words.count(server.getGroupsList().stream().filter(MemberStatus::getLeads).count()));
    }
    out.printf("%n%s%n", Words.count(groups, "group"));
    out.printf("%16s  %-24s %-15s %s%n", "group", "leader", "replicas", "followers");
    boolean allLed = true;
    boolean anyFailed = false;
    for (int group = 0; group < groups; group++) {
      String leader = "none";
      boolean led = isLed(servers, group);
      var followers = new ArrayList<String>();
      for (ServerStatus server : servers) {
        for (MemberStatus member : server.getGroupsList()) {
          if (member.getGroup() != group) continue;
          if (member.getLeads()) leader = server.getServer();
          else followers.add(follower(server, member, led, silent));
          anyFailed |= member.getFailed();
          if (member.getLeads() && !member.getMove().isEmpty()) leader += " " + member.getMove();
        }
      }
      String replicas = ReplicaCount.of(status, group).map(ReplicaCount::toString).orElse("");
      out.printf("%16d  %-24s %-15s %s%n", group, leader, replicas, String.join(", ", followers));
      allLed &= !leader.equals("none");
    }
    ReplicaCount.advice(status.getReplicas(), status).ifPresent(out::println);
    if (anyFailed) {
      out.printf(
          "a replica has failed: its server's output says why. Repair the cause and start the"
              + " server again;%nwhere there are more servers than replicas, another"
              + " one gets its place by itself%n");
    }
    if (!allLed) {
      out.printf(
          "a group has no leader: most of its servers cannot reach each other, or they are electing"
              + " one.%nStart the servers that are down again, each on its directory, and the store"
              + " answers again."
              + " When they are lost for good, disks and all,%n./stoa recover --data DIR"
              + " --others-are-lost lets a remaining server continue: see ./stoa help recover%n");
    }
  }

  private static boolean isLed(List<ServerStatus> servers, int group) {
    return servers.stream()
        .flatMap(server -> server.getGroupsList().stream())
        .anyMatch(member -> member.getGroup() == group && member.getLeads());
  }

  private static boolean isBehind(ServerStatus server) {
    return server.getGroupsList().stream().anyMatch(member -> member.getBehind() > 0);
  }

  /// @param led whether the group has a leader, which determines the members that are log units
  /// @param silent the servers that do not answer
  private static String follower(
      ServerStatus server, MemberStatus member, boolean led, Set<String> silent) {
    String text = server.getServer();
    if (led && member.getLogUnit()) text += " log unit";
    if (member.getFailed()) text += " failed";
    if (!member.getMove().isEmpty()) text += " " + member.getMove();
    if (silent.contains(server.getServer())) return text + " (" + SILENT + ")";
    if (member.getBehind() > 0) text += " (" + Words.count(member.getBehind()) + " behind)";
    return text;
  }

  private static void quarantined(PrintWriter out, List<QuarantineStatus> objects) {
    if (objects.isEmpty()) return;
    out.printf("%n%s in quarantine%n", Words.count(objects.size(), "object"));
    for (QuarantineStatus object : objects.subList(0, Math.min(ROWS_MAX, objects.size()))) {
      out.printf("%n  %s: %s%n", object.getObject(), object.getEvidence());
      if (object.getLeaderState().isEmpty()) continue; // not for states that differ
      out.printf(
          "    state %s where it was led, %s where it was followed%n",
          object.getLeaderState(), object.getFollowerState());
    }
    more(out, objects.size());
    out.printf(
        "%n  look at the history, mend the class, then delete the object, or ./stoa accept OBJECT%n");
  }

  /* Each below its parent, indented by its depth. */
  private static void tree(PrintWriter out, String domain, List<TreeStatus> members) {
    if (members.size() < 2) return;
    out.printf(
        "%n%s among which objects of the domain %s migrate%n",
        Words.count(members.size(), "member"), domain);
    out.printf("  %-48s %-6s %9s %8s  %s%n", "member", "", "children", "objects", "locality");
    var lines = new ArrayList<String>();
    below("", 0, members, lines);
    lines.subList(0, Math.min(ROWS_MAX, lines.size())).forEach(out::println);
    more(out, lines.size());
  }

  private static void below(
      String parent, int depth, List<TreeStatus> members, List<String> lines) {
    for (TreeStatus member : members) {
      if (!member.getParent().equals(parent)) continue;
      String kind = member.getInner() ? "inner" : "leaf";
      boolean isRoot = lines.isEmpty();
      boolean isJoining = depth == 0 && !isRoot;
      lines.add(
          "  %-48s %-6s %9s %8s  %s"
              .formatted(
                  "  ".repeat(depth) + member.getName() + " " + member.getNode(),
                  isRoot ? "root" : isJoining ? "joins" : kind,
                  Words.count(member.getChildren()),
                  Words.count(member.getObjects()),
                  member.getLocality()));
      if (!isJoining) below(member.getNode(), depth + 1, members, lines);
    }
  }

  private static void sessions(PrintWriter out, List<SessionStatus> sessions) {
    out.printf("%n%s%n", Words.count(sessions.size(), "session"));
    if (sessions.isEmpty()) return;
    out.printf(
        "%10s  %-24s %8s %9s %13s %10s%n",
        "session", "client", "objects", "requests", "transactions", "unread");
    for (SessionStatus session : sessions.subList(0, Math.min(ROWS_MAX, sessions.size()))) {
      out.printf(
          "%10d  %-24s %8s %9s %13s %10s%n",
          session.getSession(),
          session.getConnected() ? session.getPeer() : "not connected",
          Words.count(session.getContainers()),
          Words.count(session.getRequests()),
          Words.count(session.getTransactions()),
          Words.bytes(session.getUnreadBytes()));
    }
    more(out, sessions.size());
  }

  private static void calls(PrintWriter out, List<CallStatus> calls) {
    out.printf("%n%s in progress%n", Words.count(calls.size(), "call"));
    if (calls.isEmpty()) return;
    out.printf(
        "%10s  %-32s %-24s %-8s %10s  %s%n", "call", "object", "method", "", "for", "client");
    for (CallStatus call : calls.subList(0, Math.min(ROWS_MAX, calls.size()))) {
      out.printf(
          "%10s  %-32s %-24s %-8s %10s  %s%n",
          call.getId(),
          call.getObject(),
          call.getMethod(),
          call.getRunning() ? "runs" : call.getAwaiting() ? "awaits" : "waits",
          Words.millis(Duration.ofMillis(call.getMillis())),
          client(call));
    }
    more(out, calls.size());
  }

  private static String client(CallStatus call) {
    if (call.getSession() == 0) return "";
    return call.getPeer().isEmpty()
        ? "session " + call.getSession() + ", not connected"
        : call.getPeer();
  }

  private static void more(PrintWriter out, int count) {
    if (count > ROWS_MAX) out.println("            and " + Words.count(count - ROWS_MAX) + " more");
  }
}
