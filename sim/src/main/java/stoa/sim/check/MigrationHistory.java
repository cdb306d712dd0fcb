package stoa.sim.check;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.Reads;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.NodeId;
import stoa.sim.check.TransactionHistory.Action;
import stoa.sim.check.TransactionHistory.Outcome;
import stoa.sim.check.TransactionHistory.Recorded;

/// The reads and updates of operations on migrating objects. An object is the list of the
/// operations that have updated it. Decides which operations are durable, and whether they have one
/// order.
///
/// One owner.
public final class MigrationHistory {
  /*
   * (1) An operation is durable iff its node stayed connected or left (Definition 2), or a durable
   *     one read its result.
   * (2) A version of an object that a durable operation saw or made stands for one state (Lemma 1),
   *     and of two versions the newer one has the older one's updates.
   * (3) Durable operations are strictly serializable, local reads taken out of time: the
   *     multi-version serialization graph of section 7 has no cycle, with the lists' order as that
   *     of versions.
   * (4) The states that a flush or leave has made durable are in the store from then on.
   * (5) The store has all of an operation or nothing, and all that the operation depends on
   *     (section 4.4).
   * (6) An operation sees no state older than its node had made or seen before it began, by
   *     operations that had ended or not.
   * (7) An operation that ends, and is no local read, has seen all states that were durable before
   *     it began, also when its own root was replaced meanwhile.
   * (8) Durable operations have the timestamps of section 7.1. Lemmas 2 and 6: those that retrieved
   *     the same object have run in the order of their timestamps. Lemma 4: the timestamp of an
   *     operation is below that of the operation that made the next version of an object that it
   *     read. (Lemma 3, that it is above that of the operation that made the version that it read,
   *     follows from the definition of timestamps.)
   * (9) Lemma 8: a durable strict read sees all durable updates that had ended before it began.
   *
   * `MigrationLemmas` has the invariants of nodes while they work.
   */
  public MigrationHistory() {}

  public static final class Operation {
    private final String name;
    private final NodeId node;
    private final Reads reads;
    private final SortedMap<StreamId, Seen> inputs = new TreeMap<>();
    private final SortedMap<StreamId, CopyVersion> outputs = new TreeMap<>();
    private final SortedSet<StreamId> writes;
    // The versions that its node had seen before.
    private final SortedMap<StreamId, CopyVersion> before;
    // The durable operations before it began, by object.
    private final SortedMap<StreamId, List<String>> durable;
    private final long began;
    private long ended = Long.MAX_VALUE;
    // The time at which an update, or an operation on several objects, has run, and its timestamp.
    private long ran;
    private long stamp;

    private Operation(
        String name,
        NodeId node,
        Reads reads,
        SortedSet<StreamId> writes,
        SortedMap<StreamId, CopyVersion> before,
        SortedMap<StreamId, List<String>> durable,
        long began) {
      this.name = name;
      this.node = node;
      this.reads = reads;
      this.writes = writes;
      this.before = before;
      this.durable = durable;
      this.began = began;
    }

    public boolean isLocal() {
      return reads == Reads.LOCAL;
    }

    boolean hasEnded() {
      return ended != Long.MAX_VALUE;
    }

    public SortedSet<StreamId> writes() {
      return writes;
    }

    @Override
    public String toString() {
      return "%s at %s".formatted(name, node);
    }
  }

  private record Seen(CopyVersion version, List<String> list) {}

  private final SortedMap<String, Operation> operations = new TreeMap<>();
  private final SortedSet<NodeId> staying = new TreeSet<>();
  private final SortedMap<NodeId, SortedMap<StreamId, CopyVersion>> latest = new TreeMap<>();
  private final SortedMap<StreamId, List<String>> store = new TreeMap<>();
  private final SortedSet<String> durable = new TreeSet<>();
  // The timestamp of the last operation on an object instance, by the last name in its list.
  private final SortedMap<StreamId, SortedMap<String, Long>> stamps = new TreeMap<>();
  private long time;

  /// A state of an object. Its list of operations has those of earlier lives, too: the judges
  /// follow an object through all of them.
  ///
  /// @param life the number of its life, from 1
  /// @param exists whether the object exists: it was constructed in this life
  public record State(long life, boolean exists, List<String> list) {
    private static final String EXISTS = "+";

    /// The state of an object that was never constructed.
    public static final State NOTHING = new State(1, false, List.of());

    /// Reads a state.
    public static State of(byte[] bytes) {
      if (bytes.length == 0) return NOTHING;
      String[] parts = new String(bytes, StandardCharsets.UTF_8).split(" ", -1);
      List<String> list = parts[2].isEmpty() ? List.of() : List.of(parts[2].split(",", -1));
      return new State(Long.parseLong(parts[0]), parts[1].equals(EXISTS), list);
    }

    /// Returns it as bytes: as in a store, an object without a life has none.
    public byte[] bytes() {
      if (equals(NOTHING)) return new byte[0];
      String text = life + " " + (exists ? EXISTS : "-") + " " + String.join(",", list);
      return text.getBytes(StandardCharsets.UTF_8);
    }
  }

  /// Returns the operations in a state.
  public static List<String> list(byte[] state) {
    return State.of(state).list;
  }

  public static void holds(boolean condition, String text, Object... values) {
    if (!condition) throw new AssertionError(text.formatted(values));
  }

  public Operation begin(NodeId node, Reads reads, SortedSet<StreamId> writes) {
    var operation =
        new Operation(
            "o" + operations.size(),
            node,
            reads,
            new TreeSet<>(writes),
            new TreeMap<>(latest(node)),
            durable(),
            ++time);
    operations.put(operation.name, operation);
    return operation;
  }

  private boolean isDurable(String name) {
    return durable.contains(name);
  }

  private SortedMap<StreamId, List<String>> durable() {
    SortedMap<StreamId, List<String>> all = new TreeMap<>();
    store.forEach(
        (object, list) -> all.put(object, list.stream().filter(this::isDurable).toList()));
    return all;
  }

  private SortedMap<StreamId, CopyVersion> latest(NodeId node) {
    return latest.computeIfAbsent(node, _ -> new TreeMap<>());
  }

  private void latest(NodeId node, StreamId object, CopyVersion version) {
    latest(node).merge(object, version, (one, two) -> one.compareTo(two) >= 0 ? one : two);
  }

  public void saw(Operation operation, Copy copy) {
    operation.inputs.put(copy.object(), new Seen(copy.version(), list(copy.state())));
    CopyVersion before = operation.before.getOrDefault(copy.object(), CopyVersion.NONE);
    latest(operation.node, copy.object(), copy.version());
    holds(before.compareTo(copy.version()) <= 0, "%s sees %s after %s", operation, copy, before);
  }

  /// Returns the new state of an object that an operation changes.
  public byte[] update(Operation operation, Copy copy) {
    CopyVersion version = new CopyVersion(copy.version().generation(), copy.version().number() + 1);
    operation.outputs.put(copy.object(), version);
    latest(operation.node, copy.object(), version);
    State before = State.of(copy.state());
    List<String> list = new ArrayList<>(before.list);
    list.add(operation.name);
    return new State(before.life, true, list).bytes();
  }

  /// Notes that an operation other than a read of one object has run. It gets its timestamp
  /// (section 7.1).
  public void executed(Operation operation) {
    operation.ran = ++time;
    operation.inputs.forEach((object, seen) ->
        operation.stamp =
            Math.max(operation.stamp, stamps(object).getOrDefault(last(seen.list), 0L)));
    operation.stamp++;
    operation.inputs.forEach(
        (object, seen) -> stamps(object).put(last(seen.list), operation.stamp));
    for (var object : operation.outputs.keySet()) {
      stamps(object).put(operation.name, operation.stamp);
    }
  }

  private SortedMap<String, Long> stamps(StreamId object) {
    return stamps.computeIfAbsent(object, _ -> new TreeMap<>());
  }

  private static String last(List<String> list) {
    return list.isEmpty() ? "" : list.getLast();
  }

  /// Returns the dependencies of a state with an operation's update: of each other object, the last
  /// update that must be in its list.
  public SortedMap<StreamId, String> dependencies(String name) {
    SortedMap<StreamId, String> last = new TreeMap<>();
    var operation = get(name);
    operation.inputs.forEach((object, seen) -> {
      if (!seen.list.isEmpty()) last.put(object, seen.list.getLast());
    });
    for (var object : operation.outputs.keySet()) last.put(object, name);
    return last;
  }

  public void end(Operation operation) {
    operation.ended = ++time;
    if (operation.isLocal()) return;
    operation.inputs.forEach((object, seen) -> {
      for (var name : operation.durable.getOrDefault(object, List.of())) {
        holds(
            seen.list.contains(name),
            "%s was durable, and %s saw %s without it after that",
            name,
            operation,
            seen);
      }
    });
  }

  /// Returns the operations of a node that have ended.
  public List<String> ended(NodeId node) {
    return operations.values().stream()
        .filter(operation -> operation.node.equals(node) && operation.hasEnded())
        .map(operation -> operation.name)
        .toList();
  }

  /// Notes that a node has left, or exists at the end.
  public void stayed(NodeId node) {
    staying.add(node);
  }

  /// Notes that the store has made copies durable together.
  public void persisted(List<Copy> copies) {
    List<String> fresh = new ArrayList<>();
    for (var copy : copies) {
      var list = list(copy.state());
      fresh.addAll(list);
      var old = store.put(copy.object(), list);
      if (old == null) continue;
      for (var name : old) {
        holds(
            list.contains(name) || !durable.contains(name),
            "%s was durable, and %s lacks it",
            name,
            copy);
      }
      fresh.removeAll(old);
    }
    for (var name : fresh) whole(name);
  }

  private void whole(String name) {
    dependencies(name)
        .forEach((object, last) -> {
          var list = store.getOrDefault(object, List.of());
          holds(list.contains(last), "the store has %s, and not %s of %s", name, last, object);
        });
  }

  private Operation get(String name) {
    var operation = operations.get(name);
    if (operation == null) throw new AssertionError("nobody made " + name);
    return operation;
  }

  /// Notes that the results of operations are durable: they are in the store, or will be. So are
  /// the states that they have seen.
  public void durable(List<String> names) {
    for (var name : names) {
      var operation = get(name);
      for (var object : operation.outputs.keySet()) {
        var list = store.getOrDefault(object, List.of());
        holds(list.contains(name), "%s is durable, and the store has it not: %s", name, list);
      }
      operation.inputs.forEach((object, seen) -> {
        var list = store.getOrDefault(object, List.of());
        holds(list.containsAll(seen.list), "%s saw %s, and the store has %s", name, seen, list);
        durable.addAll(seen.list);
      });
      if (!operation.outputs.isEmpty()) durable.add(name);
    }
  }

  /// Judges the history, at the end.
  ///
  /// @param last the final states
  public void require(SortedMap<StreamId, List<String>> last) {
    SortedSet<String> set = new TreeSet<>();
    var open = new ArrayDeque<String>();
    for (var operation : operations.values()) {
      if (staying.contains(operation.node) && operation.hasEnded()) open.add(operation.name);
    }
    last.values().forEach(open::addAll);
    while (!open.isEmpty()) {
      String name = open.remove();
      if (!set.add(name)) continue;
      for (var seen : get(name).inputs.values()) open.addAll(seen.list);
    }
    versions(set);
    List<Recorded> history = new ArrayList<>();
    for (var name : set) history.add(recorded(get(name)));
    List<Action> reads = new ArrayList<>();
    last.forEach((object, list) -> reads.add(new Action.Read(object.toString(), list)));
    time++;
    history.add(new Recorded("the end", time, time + 1, Outcome.COMMITTED, reads));
    last.forEach((object, list) -> retrieved(set, object, list));
    last.forEach((object, list) -> read(set, object, list));
    Serializability.require(history);
    for (var name : durable) {
      for (var object : get(name).outputs.keySet()) {
        holds(last.getOrDefault(object, List.of()).contains(name), "%s was durable", name);
      }
    }
  }

  /// Checks (8) for an object, with all operations that updated it, in their order.
  private void retrieved(SortedSet<String> set, StreamId object, List<String> order) {
    List<Operation> all = new ArrayList<>();
    for (var name : set) {
      var operation = get(name);
      var seen = operation.inputs.get(object);
      if (seen == null || operation.ran == 0) continue;
      all.add(operation);
      int count = seen.list.size();
      if (count == order.size() || order.get(count).equals(name)) continue;
      follows(operation, get(order.get(count)), "Lemma 4");
    }
    all.sort(Comparator.comparingLong(operation -> operation.ran));
    for (int i = 1; i < all.size(); i++) follows(all.get(i - 1), all.get(i), "Lemma 2");
  }

  private static void follows(Operation one, Operation other, String lemma) {
    holds(
        one.stamp < other.stamp,
        "%s: %s has timestamp %s, and %s, which comes after it, has %s",
        lemma,
        one,
        one.stamp,
        other,
        other.stamp);
  }

  /// Checks (9) for an object.
  private void read(SortedSet<String> set, StreamId object, List<String> order) {
    for (var name : set) {
      var operation = get(name);
      var seen = operation.inputs.get(object);
      if (seen == null || operation.ran > 0 || operation.isLocal()) continue;
      for (var missed : order.subList(seen.list.size(), order.size())) {
        holds(
            get(missed).ended > operation.began,
            "Lemma 8: %s had ended, and %s saw %s",
            missed,
            operation,
            seen);
      }
    }
  }

  private void versions(SortedSet<String> set) {
    SortedMap<StreamId, SortedMap<CopyVersion, List<String>>> all = new TreeMap<>();
    for (var name : set) {
      var operation = get(name);
      operation.inputs.forEach((object, seen) -> version(all, object, seen.version, seen.list));
      operation.outputs.forEach((object, version) -> {
        var seen = operation.inputs.get(object);
        List<String> list = new ArrayList<>(seen == null ? List.of() : seen.list);
        list.add(name);
        version(all, object, version, list);
      });
    }
    all.forEach((object, versions) -> {
      List<String> before = List.of();
      for (var list : versions.values()) {
        holds(
            list.size() >= before.size() && list.subList(0, before.size()).equals(before),
            "versions of %s grow: %s",
            object,
            versions);
        before = list;
      }
    });
  }

  private static void version(
      SortedMap<StreamId, SortedMap<CopyVersion, List<String>>> all,
      StreamId object,
      CopyVersion version,
      List<String> list) {
    var known = all.computeIfAbsent(object, _ -> new TreeMap<>()).putIfAbsent(version, list);
    holds(
        known == null || known.equals(list), "%s of %s is %s and %s", version, object, known, list);
  }

  private static Recorded recorded(Operation operation) {
    List<Action> actions = new ArrayList<>();
    operation.inputs.forEach(
        (object, seen) -> actions.add(new Action.Read(object.toString(), seen.list)));
    for (var object : operation.outputs.keySet()) {
      actions.add(new Action.Append(object.toString(), operation.name));
    }
    boolean local = operation.reads == Reads.LOCAL;
    return new Recorded(
        operation.toString(),
        local ? 0 : operation.began,
        local ? Long.MAX_VALUE - 1 : operation.ended,
        Outcome.COMMITTED,
        actions);
  }
}
