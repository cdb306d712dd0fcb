package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.QuarantineStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.SessionStatus;
import stoa.wire.proto.ShardStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// The servers, groups and clients of a store in one answer, also while a group does not answer. It
/// asks the groups at most once a second, however many pages ask. Thread-safe.
final class Overview {
  private static final int ROWS_MAX = 200;
  private static final long AGE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final Operator operator;

  // The last answer or failure, and when it came. Guarded by this.
  private @Nullable JsonObject last;
  private @Nullable IllegalArgumentException failure;
  private long lastNanos;

  Overview(Operator operator) {
    this.operator = operator;
  }

  /// One group's state.
  ///
  /// @param silence why it does not answer; empty when it does
  private record Group(StatusReply status, String silence) {}

  /// Returns the answer.
  ///
  /// @throws IllegalArgumentException when the server does not answer
  synchronized JsonElement json() throws InterruptedException {
    JsonObject known = last;
    IllegalArgumentException silence = failure;
    if (System.nanoTime() - lastNanos < AGE_NANOS_MAX) {
      if (silence != null) throw silence;
      if (known != null) return known;
    }
    try {
      JsonObject told = told();
      last = told;
      failure = null;
      return told;
    } catch (IllegalArgumentException silent) {
      failure = silent;
      throw silent;
    } finally {
      lastNanos = System.nanoTime();
    }
  }

  private JsonObject told() throws InterruptedException {
    StatusReply home = ask(0);
    var groups = new ArrayList<Group>();
    groups.add(new Group(home, ""));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var asked = new ArrayList<Future<Group>>();
      for (int i = 1; i < home.getGroups(); i++) {
        int group = i;
        asked.add(threads.submit(() -> group(group)));
      }
      for (Future<Group> one : asked) groups.add(one.get());
    } catch (ExecutionException failed) {
      throw new IllegalStateException(failed.getCause());
    }
    return json(home, groups);
  }

  private StatusReply ask(int group) {
    var asked = StatusRequest.newBuilder().setGroup(group).build();
    return operator.askBriefly(group, server -> server.status(asked));
  }

  private Group group(int group) {
    try {
      return new Group(ask(group), "");
    } catch (IllegalArgumentException silent) {
      return new Group(StatusReply.getDefaultInstance(), String.valueOf(silent.getMessage()));
    }
  }

  private static JsonObject json(StatusReply home, List<Group> groups) {
    var all = new JsonObject();
    all.addProperty("version", home.getVersion());
    all.addProperty("data", home.getData());
    all.addProperty("upMillis", home.getUpMillis());
    all.addProperty("serversAgeMillis", home.getServersAgeMillis());
    var servers = new JsonArray();
    home.getServersList().forEach(server -> servers.add(Json.of(server)));
    all.add("servers", servers);
    var told = new JsonArray();
    var sessions = new JsonArray();
    var quarantined = new JsonArray();
    for (int i = 0; i < groups.size(); i++) {
      Group group = groups.get(i);
      told.add(json(i, group, leader(home, i)));
      for (SessionStatus session : group.status.getSessionsList()) {
        if (sessions.size() < ROWS_MAX) sessions.add(numbered(i, Json.of(session)));
      }
      for (QuarantineStatus object : group.status.getQuarantinedList()) {
        if (quarantined.size() < ROWS_MAX) quarantined.add(numbered(i, Json.of(object)));
      }
    }
    all.add("groups", told);
    all.add("sessions", sessions);
    all.add("quarantined", quarantined);
    var alarms = new JsonArray();
    home.getAlarmsList().forEach(alarms::add);
    all.add("alarms", alarms);
    var tree = new JsonArray();
    home.getTreeList().stream().limit(ROWS_MAX).forEach(member -> tree.add(Json.of(member)));
    all.add("tree", tree);
    all.addProperty("treeMembers", home.getTreeCount());
    return all;
  }

  private static JsonElement numbered(int group, JsonElement told) {
    told.getAsJsonObject().addProperty("group", group);
    return told;
  }

  private static @Nullable String leader(StatusReply home, int group) {
    for (ServerStatus server : home.getServersList()) {
      for (MemberStatus member : server.getGroupsList()) {
        if (member.getGroup() == group && member.getLeads()) return server.getServer();
      }
    }
    return null;
  }

  private static JsonObject json(int number, Group group, @Nullable String leader) {
    StatusReply status = group.status;
    var told = new JsonObject();
    told.addProperty("group", number);
    if (leader != null) told.addProperty("leader", leader);
    told.addProperty("answers", status.getShardsCount() > 0);
    if (!group.silence.isEmpty()) told.addProperty("silence", group.silence);
    if (!status.getFailure().isEmpty()) told.addProperty("failure", status.getFailure());
    told.addProperty("callsPerSecond", status.getCallsPerSecond());
    told.addProperty("callsAnswered", status.getCallsAnswered());
    told.addProperty("syncsPerSecond", status.getSyncsPerSecond());
    told.addProperty(
        "logBytes", status.getShardsList().stream().mapToLong(ShardStatus::getLogBytes).sum());
    told.addProperty("objectsInMemory", status.getObjectsInMemory());
    told.addProperty("timers", status.getTimers().getCount());
    told.addProperty("timersOverdue", status.getTimers().getOverdue());
    told.addProperty("timersFailed", status.getTimers().getFailed());
    told.addProperty("listeners", status.getListeners().getCount());
    told.addProperty("listenersFailing", status.getListeners().getFailing());
    told.addProperty("sessions", status.getSessionsCount());
    told.addProperty("calls", status.getCallsCount());
    told.addProperty("quarantined", status.getQuarantinedCount());
    return told;
  }
}
