package stoa.sim.world;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.migration.core.Upward;
import stoa.sim.check.MigrationHistory;

/// The invariants of the nodes of a simulated tree after every step, from which the lemmas of the
/// self-service paper (section 7) follow. Judges a node, and its neighbors, after each event at it.
///
/// One owner.
public final class MigrationLemmas {
  /*
   * For two neighbors that are both in the tree and know each other, while their connection holds,
   * and for each object:
   *
   * (1) Where one waits for the object from the other, the other has it in its queue, or the
   *     request or the object is on its way; as often, and the other way round (sections 4.2 and
   *     4.3; Figure 8 for one that has taken its parent's place). So no request vanishes or is made
   *     twice.
   * (2) One of them has the other at the head of its queue; both have while the object is on its
   *     way between them, which it is once at most. A tree has one node more than connections: so
   *     at one node at most the head is the node itself, and the heads lead there. Lemma 1 takes
   *     this from the Arrow protocol: migrations are serial.
   * (3) Towards the object versions do not fall: the node that has it has the newest copy (Lemma 1,
   *     and Lemma 8 for reads, which follow the heads).
   * (4) Of two copies the newer one has the updates of the older one, and equal versions are equal
   *     states (Lemma 1: a version that others see is unique).
   * (5) The parent has the versions that the child believes it to have, or they are on their way
   *     (section 4.4).
   *
   * For one node:
   *
   * (6) Queues have neighbors and the node itself in them. An operation holds only objects that are
   *     here (Lemma 2: retrieval is serial).
   * (7) A newer copy has the updates of the one before (Lemma 1).
   * (8) The dependencies of a copy are above its node, or are on their way up there, or are here
   *     and go there together with it (section 4.4). So no node above sees an operation of which a
   *     part is lost below (the other half of Lemma 1). At the root: they are here or in the store.
   */
  private final MigrationHistory history;
  private final MigrationNetwork network;
  private final List<StreamId> objects;
  private final Function<NodeId, @Nullable TreeNode> live;
  private final Function<StreamId, @Nullable Copy> stored;
  // The judged copies of a node, while its parent was the same.
  private final SortedMap<NodeId, SortedMap<StreamId, Copy>> judged = new TreeMap<>();
  private final SortedMap<NodeId, NodeId> parents = new TreeMap<>();
  // By identity of the array, which never changes.
  private final IdentityHashMap<byte[], SequencedSet<String>> lists = new IdentityHashMap<>();

  /// @param live returns the node of an identity, while it exists
  /// @param stored the states in the store
  MigrationLemmas(
      MigrationHistory history,
      MigrationNetwork network,
      List<StreamId> objects,
      Function<NodeId, @Nullable TreeNode> live,
      Function<StreamId, @Nullable Copy> stored) {
    this.history = history;
    this.network = network;
    this.objects = objects;
    this.live = live;
    this.stored = stored;
  }

  /// Judges nodes after an event.
  void check(Collection<TreeNode> nodes, TreeNode root) {
    for (var node : nodes) {
      if (node.equals(live.apply(node.id())) && node.isIn()) check(node, root);
    }
  }

  private void check(TreeNode node, TreeNode root) {
    var before = judged.computeIfAbsent(node.id(), _ -> new TreeMap<>());
    NodeId above = node.above();
    if (above != null && !above.equals(parents.put(node.id(), above))) before.clear();
    List<TreeNode> neighbors = new ArrayList<>();
    TreeNode parent = parent(node);
    if (parent != null) neighbors.add(parent);
    for (var each : node.below()) {
      var child = live.apply(each);
      if (child != null && node.equals(parent(child))) neighbors.add(child);
    }
    for (var neighbor : neighbors) {
      if (neighbor.equals(parent)) pair(neighbor, node);
      else pair(node, neighbor);
    }
    for (var object : objects) {
      queue(node, object);
      Copy copy = node.copy(object);
      Copy old = before.get(object);
      if (copy == null || (old != null && Arrays.equals(old.state(), copy.state()))) continue;
      if (old != null) grows(node, old, node, copy);
      for (var neighbor : neighbors) compare(node, neighbor, object);
      if (closed(node, copy, old, root)) before.put(object, copy);
    }
  }

  /// Returns the parent of a node, when both are sure of it.
  private @Nullable TreeNode parent(TreeNode node) {
    NodeId above = node.above();
    if (above == null || !node.isIn() || network.isCut(node.id(), above)) return null;
    var parent = live.apply(above);
    boolean both = parent != null && parent.isIn() && parent.below().contains(node.id());
    return both ? parent : null;
  }

  // ---- two neighbors

  private void pair(TreeNode parent, TreeNode child) {
    var up = underWay(child, parent);
    var down = underWay(parent, child);
    for (var object : objects) {
      waits(parent, child, object, down, up);
      waits(child, parent, object, up, down);
      heads(parent, child, object, moves(up, object) + moves(down, object));
      CopyVersion above = child.versionAbove(object);
      MigrationHistory.holds(
          knows(parent, object, above)
              || up.stream().anyMatch(message -> has(message, object, above)),
          "(5) %s believes that %s of %s is at %s",
          child,
          above,
          object,
          parent);
    }
  }

  private List<Message> underWay(TreeNode from, TreeNode to) {
    List<Message> all = new ArrayList<>(to.unread(from.id()));
    all.addAll(network.underWay(from.id(), to.id()));
    all.addAll(from.held(to.id()));
    return all;
  }

  private static int moves(List<Message> messages, StreamId object) {
    int count = 0;
    for (var message : messages) {
      if (message instanceof Message.Migrate migrate && migrate.object().equals(object)) count++;
    }
    return count;
  }

  private static void waits(
      TreeNode one, TreeNode other, StreamId object, List<Message> there, List<Message> back) {
    var line = one.line(object);
    int waits = 0;
    for (var each : line.subList(0, line.size() - 1)) if (each.equals(other.id())) waits++;
    var others = other.line(object);
    int known = 0;
    for (var each : others.subList(1, others.size())) if (each.equals(one.id())) known++;
    for (var message : there) if (message.equals(new Message.Retrieve(object))) known++;
    known += moves(back, object);
    MigrationHistory.holds(
        waits == known,
        "(1) %s waits for %s from %s %s times, and is to get it %s times",
        one,
        object,
        other,
        waits,
        known);
  }

  private void heads(TreeNode parent, TreeNode child, StreamId object, int moves) {
    boolean down = parent.line(object).getFirst().equals(child.id());
    boolean up = child.line(object).getFirst().equals(parent.id());
    MigrationHistory.holds(
        (down ? 1 : 0) + (up ? 1 : 0) == 1 + moves,
        "(2) %s is between %s and %s, %s times under way",
        object,
        parent,
        child,
        moves);
    if (moves > 0) return;
    var far = down ? parent : child;
    var near = down ? child : parent;
    MigrationHistory.holds(
        knows(near, object, far.version(object)),
        "(3) %s is in the direction of %s, which has an older copy than %s",
        object,
        near,
        far);
  }

  /// Returns whether a version is at a node. A node that has taken its parent's place does not know
  /// which version the parent had released; then it is further up, and the object too.
  private boolean knows(TreeNode node, StreamId object, CopyVersion version) {
    TreeNode at = node;
    while (at.version(object).compareTo(version) < 0) {
      if (isUnsettled(at, object)) return true;
      if (!at.line(object).getFirst().equals(at.above())) return false;
      at = parent(at);
      if (at == null) return true;
    }
    return true;
  }

  /// Returns whether a root has not determined its version of an object: it expects children of the
  /// root before, or has not loaded the object, and will then give it a generation above all
  /// others.
  private static boolean isUnsettled(TreeNode node, StreamId object) {
    if (node.above() != null) return false;
    return !node.expected().isEmpty() || node.version(object).equals(CopyVersion.NONE);
  }

  private static boolean has(Message message, StreamId object, CopyVersion version) {
    for (var copy : copies(message).copies()) {
      if (copy.object().equals(object) && copy.version().compareTo(version) >= 0) return true;
    }
    return false;
  }

  private static Upward copies(Message message) {
    return switch (message) {
      case Message.Migrate migrate -> migrate.copies();
      case Message.Reply reply -> reply.copies();
      case Message.CopyUp copyUp -> copyUp.copies();
      default -> new Upward(List.of(), List.of());
    };
  }

  private void compare(TreeNode one, TreeNode other, StreamId object) {
    if (isUnsettled(one, object) || isUnsettled(other, object)) return;
    Copy mine = one.copy(object);
    Copy others = other.copy(object);
    if (mine == null || others == null || Arrays.equals(mine.state(), others.state())) return;
    if (mine.version().compareTo(others.version()) <= 0) grows(one, mine, other, others);
    else grows(other, others, one, mine);
  }

  private void grows(TreeNode at, Copy older, TreeNode where, Copy newer) {
    var all = list(newer).iterator();
    boolean well = true;
    for (var name : list(older)) well &= all.hasNext() && all.next().equals(name);
    boolean isOne = newer.version().equals(older.version());
    MigrationHistory.holds(
        well && !(isOne && all.hasNext()),
        "(4) %s at %s is %s, and %s at %s is %s",
        older,
        at,
        list(older),
        newer,
        where,
        list(newer));
  }

  private SequencedSet<String> list(Copy copy) {
    return lists.computeIfAbsent(
        copy.state(), state -> new LinkedHashSet<>(MigrationHistory.list(state)));
  }

  // ---- one node

  private static void queue(TreeNode node, StreamId object) {
    for (var each : node.line(object)) {
      MigrationHistory.holds(
          each.equals(node.id()) || each.equals(node.above()) || node.below().contains(each),
          "(6) %s is in a queue of %s",
          each,
          node);
    }
    MigrationHistory.holds(
        !node.holds(object) || node.owns(object), "(6) %s holds %s", node, object);
  }

  /// Returns whether it was known what is above.
  private boolean closed(TreeNode node, Copy copy, @Nullable Copy old, TreeNode root) {
    List<TreeNode> above = new ArrayList<>();
    List<Message> up = new ArrayList<>();
    TreeNode at = node;
    while (!at.equals(root)) {
      TreeNode next = parent(at);
      if (next == null) return false;
      above.add(next);
      up.addAll(underWay(at, next));
      at = next;
    }
    for (var name : list(copy)) {
      if (old != null && list(old).contains(name)) continue;
      history
          .dependencies(name)
          .forEach((object, last) -> {
            boolean well = has(stored.apply(object), last);
            well |= above.stream().anyMatch(each -> has(each.copy(object), last));
            well |= up.stream().anyMatch(message -> has(message, object, last));
            well |= has(node.copy(object), last) && goesAlong(node, copy.object(), object);
            MigrationHistory.holds(
                well,
                "(8) %s depends on %s of %s, which is not above %s",
                copy,
                last,
                object,
                node);
          });
    }
    return true;
  }

  private static boolean goesAlong(TreeNode node, StreamId object, StreamId on) {
    return node.above() == null || node.dependencies(object).contains(on);
  }

  private boolean has(Message message, StreamId object, String name) {
    for (var copy : copies(message).copies()) {
      if (copy.object().equals(object) && list(copy).contains(name)) return true;
    }
    return false;
  }

  private boolean has(@Nullable Copy copy, String name) {
    return copy != null && list(copy).contains(name);
  }
}
