package stoa.cluster;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// The difference between two views: what a server lacks that has the first one. Immutable.
///
/// @param base the number of the mandate with which the server got the first view
/// @param servers all servers; empty when nothing about any of them has changed
/// @param groups new groups, and those of which more has changed than how far members are behind
/// @param behind of other groups, how many commands each member is behind, in the order of names
/// @param step the step in progress, changed or not; empty for none
/// @param alarms all alarms; empty when they have not changed
record ViewChange(
    long base,
    Optional<List<ClusterView.Listed>> servers,
    NavigableMap<Integer, ClusterView.Placed> groups,
    NavigableMap<Integer, List<Long>> behind,
    Optional<Step> step,
    Optional<List<String>> alarms) {
  /// Returns the difference between two views, of which the second one has all groups of the first.
  static ViewChange between(long base, ClusterView before, ClusterView after) {
    var groups = new TreeMap<Integer, ClusterView.Placed>();
    var behind = new TreeMap<Integer, List<Long>>();
    after
        .groups()
        .forEach((number, now) -> {
          ClusterView.Placed then = before.groups().get(number);
          if (now.equals(then)) return;
          boolean isMoved =
              then == null
                  || !now.leader().equals(then.leader())
                  || !now.failed().equals(then.failed())
                  || !now.behind().keySet().equals(then.behind().keySet());
          if (isMoved) groups.put(number, now);
          else behind.put(number, List.copyOf(now.behind().values()));
        });
    return new ViewChange(
        base,
        changed(before.servers(), after.servers()),
        groups,
        behind,
        after.step(),
        changed(before.alarms(), after.alarms()));
  }

  private static <T> Optional<List<T>> changed(List<T> before, List<T> after) {
    return before.equals(after) ? Optional.empty() : Optional.of(after);
  }

  /// Returns the second view.
  ///
  /// @param before the first one
  ClusterView of(ClusterView before) {
    var all = new TreeMap<>(before.groups());
    all.putAll(groups);
    behind.forEach((number, lags) ->
        all.computeIfPresent(number, (_, placed) -> behind(placed, lags.iterator())));
    return new ClusterView(
        servers.orElse(before.servers()), all, step, alarms.orElse(before.alarms()));
  }

  private static ClusterView.Placed behind(ClusterView.Placed placed, Iterator<Long> lags) {
    var behind = new TreeMap<>(placed.behind());
    behind.replaceAll((_, _) -> lags.next());
    return new ClusterView.Placed(placed.leader(), behind, placed.failed());
  }

  void write(Encoder out) {
    out.varint(base);
    out.u8(servers.isPresent() ? 1 : 0);
    servers.ifPresent(some -> ClusterView.writeServers(out, some));
    out.varint(groups.size());
    groups.forEach((number, placed) -> {
      ClusterView.writePlaced(out.varint(number), placed);
      ClusterView.writeTexts(out, placed.failed());
    });
    out.varint(behind.size());
    behind.forEach((number, lags) -> {
      out.varint(number).varint(lags.size());
      lags.forEach(out::varint);
    });
    out.u8(step.isPresent() ? 1 : 0);
    step.ifPresent(some -> some.write(out));
    out.u8(alarms.isPresent() ? 1 : 0);
    alarms.ifPresent(some -> ClusterView.writeTexts(out, some));
  }

  static ViewChange read(Decoder in) {
    long base = in.varint();
    Optional<List<ClusterView.Listed>> servers =
        in.u8() == 1 ? Optional.of(ClusterView.readServers(in)) : Optional.empty();
    var groups = new TreeMap<Integer, ClusterView.Placed>();
    for (int i = in.count(); i > 0; i--) {
      int number = (int) in.varint();
      ClusterView.Placed placed = ClusterView.readPlaced(in);
      placed.failed().addAll(ClusterView.readTexts(in));
      groups.put(number, placed);
    }
    var behind = new TreeMap<Integer, List<Long>>();
    for (int i = in.count(); i > 0; i--) {
      int number = (int) in.varint();
      var lags = new ArrayList<Long>();
      for (int j = in.count(); j > 0; j--) lags.add(in.varint());
      behind.put(number, lags);
    }
    Optional<Step> step = in.u8() == 1 ? Optional.of(Step.read(in)) : Optional.empty();
    Optional<List<String>> alarms =
        in.u8() == 1 ? Optional.of(ClusterView.readTexts(in)) : Optional.empty();
    return new ViewChange(base, servers, groups, behind, step, alarms);
  }
}
