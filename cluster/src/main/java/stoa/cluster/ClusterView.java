package stoa.cluster;

import java.util.ArrayList;
import java.util.Collection;
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
    writeServers(out, servers);
    out.varint(groups.size());
    groups.forEach((number, group) -> writePlaced(out.varint(number), group));
    out.u8(step.isPresent() ? 1 : 0);
    step.ifPresent(some -> some.write(out));
    // Servers of versions before it do not read on.
    groups.values().forEach(group -> writeTexts(out, group.failed()));
    // Nor do these, or they read here which members of each group lack classes.
    for (int i = 0; i < groups.size(); i++) out.varint(0);
    writeTexts(out, alarms);
  }

  static void writeServers(Encoder out, List<Listed> servers) {
    out.varint(servers.size());
    for (Listed server : servers) {
      out.text(server.member().toString()).text(server.presence().name());
      out.u8(server.drains() ? 1 : 0);
    }
  }

  /// Writes all of a group but which replicas have stopped.
  static void writePlaced(Encoder out, Placed group) {
    out.text(group.leader().orElse("")).varint(group.behind().size());
    group.behind().forEach((name, behind) -> out.text(name).varint(behind));
  }

  static void writeTexts(Encoder out, Collection<String> texts) {
    out.varint(texts.size());
    texts.forEach(out::text);
  }

  static ClusterView read(Decoder in) {
    List<Listed> servers = readServers(in);
    var groups = new TreeMap<Integer, Placed>();
    for (int i = in.count(); i > 0; i--) groups.put((int) in.varint(), readPlaced(in));
    Optional<Step> step = in.u8() == 1 ? Optional.of(Step.read(in)) : Optional.empty();
    if (in.remaining() > 0) {
      for (Placed group : groups.values()) group.failed().addAll(readTexts(in));
    }
    if (in.remaining() > 0) {
      for (int group = 0; group < groups.size(); group++) {
        for (int i = in.count(); i > 0; i--) skipClasses(in);
      }
    }
    List<String> alarms = in.remaining() > 0 ? readTexts(in) : List.of();
    return new ClusterView(servers, groups, step, alarms);
  }

  static List<Listed> readServers(Decoder in) {
    var servers = new ArrayList<Listed>();
    for (int i = in.count(); i > 0; i--) {
      Member member = Member.of(in.text());
      servers.add(new Listed(member, Facts.Presence.valueOf(in.text()), in.u8() == 1));
    }
    return List.copyOf(servers);
  }

  /// Reads a group, of which no replica has stopped yet.
  static Placed readPlaced(Decoder in) {
    String leader = in.text();
    var behind = new TreeMap<String, Long>();
    for (int i = in.count(); i > 0; i--) behind.put(in.text(), in.varint());
    return new Placed(
        leader.isEmpty() ? Optional.empty() : Optional.of(leader), behind, new TreeSet<>());
  }

  static List<String> readTexts(Decoder in) {
    var texts = new ArrayList<String>();
    for (int i = in.count(); i > 0; i--) texts.add(in.text());
    return List.copyOf(texts);
  }

  private static void skipClasses(Decoder in) {
    in.text();
    for (int i = in.count(); i > 0; i--) in.text();
  }
}
