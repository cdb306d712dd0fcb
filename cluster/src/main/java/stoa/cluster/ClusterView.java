package stoa.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.raft.Member;

/// The state of all servers and groups, as the leader of group 0 knows it and tells it to all.
/// Immutable.
///
/// @param servers all servers of the store
/// @param groups by their numbers
/// @param step the step in progress; empty for none
/// @param alarms about replicas, for operators
record ClusterView(
    List<Listed> servers,
    NavigableMap<Integer, Placed> groups,
    Optional<Step> step,
    List<String> alarms) {
  /// Creates a view without alarms.
  ClusterView(List<Listed> servers, NavigableMap<Integer, Placed> groups, Optional<Step> step) {
    this(servers, groups, step, List.of());
  }

  /// A server.
  ///
  /// @param presence whether it answers
  /// @param drains whether it must lose all that it has
  record Listed(Member member, Facts.Presence presence, boolean drains) {}

  /// The place of a group.
  ///
  /// @param leader the server that has the group's part of the store; empty when none is known
  /// @param behind its members, and how many commands each is behind the leader
  /// @param failed those whose replica has stopped
  record Placed(
      Optional<String> leader, NavigableMap<String, Long> behind, NavigableSet<String> failed) {}

  /// Returns the server of a name.
  Optional<Listed> server(String name) {
    return servers.stream().filter(server -> server.member().id().equals(name)).findAny();
  }

  /// Returns where clients find the server that has a group's part of the store.
  Optional<String> leader(int group) {
    return Optional.ofNullable(groups.get(group))
        .flatMap(Placed::leader)
        .flatMap(this::server)
        .map(server -> server.member().clients());
  }

  void write(Encoder out) {
    out.varint(servers.size());
    for (Listed server : servers) {
      out.text(server.member().toString()).text(server.presence().name());
      out.u8(server.drains() ? 1 : 0);
    }
    out.varint(groups.size());
    groups.forEach((number, group) -> {
      out.varint(number).text(group.leader().orElse("")).varint(group.behind().size());
      group.behind().forEach((name, behind) -> out.text(name).varint(behind));
    });
    out.u8(step.isPresent() ? 1 : 0);
    step.ifPresent(some -> some.write(out));
    // Servers of versions before it do not read on.
    groups.forEach((_, group) -> {
      out.varint(group.failed().size());
      group.failed().forEach(out::text);
    });
    // Nor do these, or they read here which members of each group lack classes.
    for (int i = 0; i < groups.size(); i++) out.varint(0);
    out.varint(alarms.size());
    alarms.forEach(out::text);
  }

  static ClusterView read(Decoder in) {
    var servers = new ArrayList<Listed>();
    for (int i = in.count(); i > 0; i--) {
      Member member = Member.of(in.text());
      servers.add(new Listed(member, Facts.Presence.valueOf(in.text()), in.u8() == 1));
    }
    var groups = new TreeMap<Integer, Placed>();
    for (int i = in.count(); i > 0; i--) {
      int number = (int) in.varint();
      String leader = in.text();
      groups.put(
          number,
          new Placed(
              leader.isEmpty() ? Optional.empty() : Optional.of(leader),
              lags(in),
              new TreeSet<>()));
    }
    Optional<Step> step = in.u8() == 1 ? Optional.of(Step.read(in)) : Optional.empty();
    if (in.remaining() > 0) {
      for (Placed group : groups.values()) {
        for (int i = in.count(); i > 0; i--) group.failed().add(in.text());
      }
    }
    if (in.remaining() > 0) {
      for (int group = 0; group < groups.size(); group++) {
        for (int i = in.count(); i > 0; i--) skipClasses(in);
      }
    }
    var alarms = new ArrayList<String>();
    if (in.remaining() > 0) {
      for (int i = in.count(); i > 0; i--) alarms.add(in.text());
    }
    return new ClusterView(List.copyOf(servers), groups, step, List.copyOf(alarms));
  }

  private static NavigableMap<String, Long> lags(Decoder in) {
    var lags = new TreeMap<String, Long>();
    for (int i = in.count(); i > 0; i--) lags.put(in.text(), in.varint());
    return lags;
  }

  private static void skipClasses(Decoder in) {
    in.text();
    for (int i = in.count(); i > 0; i--) in.text();
  }
}
