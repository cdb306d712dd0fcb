package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import stoa.migration.core.Mandate;
import stoa.migration.core.NodeId;
import stoa.sim.Chance;

/// The messages about the root's mandate among nodes of a simulated tree, each with a clock of its
/// own. A message may take any time, and overtake others. One owner.
final class MigrationMandates {
  /// The number of steps for which a root is the root after its question.
  static final long LENGTH = 400;

  private static final int SAID_MAX = 200;

  private record Stamped(NodeId from, NodeId to, boolean isUp, long echo, long age) {}

  private record Stamp(NodeId parent, long stamp, long came) {}

  private final Chance chance;
  private final SortedMap<NodeId, Mandate> mandates = new TreeMap<>();
  private final SortedMap<NodeId, Long> clocks = new TreeMap<>();
  // The last stamp that came from a child to its parent, by the child.
  private final SortedMap<NodeId, Stamp> stamps = new TreeMap<>();
  private final List<Stamped> said = new ArrayList<>();
  private long time;

  MigrationMandates(Chance chance) {
    this.chance = chance;
  }

  void step() {
    time++;
  }

  long time() {
    return time;
  }

  private long clock(NodeId node) {
    return time + clocks.computeIfAbsent(node, _ -> (long) chance.below(1_000_000));
  }

  private Mandate of(NodeId node) {
    return mandates.computeIfAbsent(node, _ -> new Mandate(LENGTH));
  }

  /// The store confirms a root.
  void confirm(NodeId root) {
    of(root).confirmed(clock(root));
  }

  /// Returns whether a node may act on its objects.
  boolean holds(NodeId node) {
    return of(node).holds(clock(node));
  }

  /// A child tells its clock.
  void up(NodeId child, NodeId parent) {
    say(new Stamped(child, parent, true, clock(child), Mandate.NONE));
  }

  /// A parent tells a child the age of its mandate.
  void down(NodeId parent, NodeId child) {
    Stamp stamp = stamps.get(child);
    if (stamp == null || !stamp.parent.equals(parent)) return; // another clock
    say(new Stamped(parent, child, false, stamp.stamp, of(parent).age(stamp.came)));
  }

  private void say(Stamped one) {
    if (said.size() == SAID_MAX) said.remove(chance.below(SAID_MAX));
    said.add(one);
  }

  /// Delivers one message, if any is on its way.
  void deliver() {
    if (said.isEmpty()) return;
    Stamped one = said.remove(chance.percent(80) ? 0 : chance.below(said.size()));
    if (one.isUp) stamps.put(one.from, new Stamp(one.to, one.echo, clock(one.to)));
    else of(one.to).heard(one.echo, one.age);
  }
}
