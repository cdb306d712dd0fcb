package stoa.migration.core;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A node's part of the distributed queue of one object: `localQ` of the paper (section 4.2). Its
/// head is the neighbor in whose direction the object is, its tail the neighbor in whose direction
/// the last requester is. One owner.
final class LocalQueue {
  /// No operation: a request that only passes the object on.
  static final long NOTHING = 0;

  /// A place in the queue.
  ///
  /// @param node a neighbor, or the node itself
  /// @param operation of the node itself, the operation to run when the object is here
  record Entry(NodeId node, long operation) {}

  private final Deque<Entry> entries = new ArrayDeque<>();

  LocalQueue(NodeId first) {
    entries.add(new Entry(first, NOTHING));
  }

  private LocalQueue(Iterable<Entry> all) {
    all.forEach(entries::add);
  }

  static LocalQueue of(List<NodeId> nodes) {
    return new LocalQueue(nodes.stream().map(node -> new Entry(node, NOTHING)).toList());
  }

  NodeId head() {
    return entries.element().node();
  }

  NodeId tail() {
    return entries.getLast().node();
  }

  int size() {
    return entries.size();
  }

  boolean isJust(@Nullable NodeId node) {
    return entries.size() == 1 && head().equals(node);
  }

  void add(Entry entry) {
    entries.add(entry);
  }

  /// Removes an operation's claim to the object; its place stays.
  void forgo(long operation) {
    var all = List.copyOf(entries);
    entries.clear();
    for (var entry : all) {
      entries.add(entry.operation() == operation ? new Entry(entry.node(), NOTHING) : entry);
    }
  }

  /// Removes the head.
  ///
  /// @return the new head
  Entry advance() {
    entries.remove();
    return entries.element();
  }

  /// Replaces the head.
  void replaceHead(NodeId by) {
    entries.remove();
    entries.addFirst(new Entry(by, NOTHING));
  }

  /// Replaces one node by another in all places behind the head.
  void replaceBehind(NodeId node, NodeId by) {
    Entry first = entries.remove();
    replace(node, by);
    entries.addFirst(first);
  }

  /// Replaces one node by another in all places.
  ///
  /// @return whether there were any
  boolean replace(NodeId node, NodeId by) {
    if (entries.stream().noneMatch(entry -> entry.node().equals(node))) return false;
    var all = List.copyOf(entries);
    entries.clear();
    for (var entry : all) {
      entries.add(entry.node().equals(node) ? new Entry(by, NOTHING) : entry);
    }
    return true;
  }

  List<NodeId> nodes() {
    return entries.stream().map(Entry::node).toList();
  }

  /// Returns the queue of a child that takes the place of its parent (Figures 7 and 8). It still
  /// contains the parent where the parent itself was in the queue.
  ///
  /// @param own the child's queue
  /// @param parents the parent's queue, with no message about the object between the two
  static LocalQueue merged(LocalQueue own, NodeId child, LocalQueue parents, NodeId parent) {
    boolean ownFirst = own.head().equals(parent);
    Iterator<Entry> reading = ownFirst ? own.entries.iterator() : parents.entries.iterator();
    Iterator<Entry> other = ownFirst ? parents.entries.iterator() : own.entries.iterator();
    NodeId turn = ownFirst ? parent : child;
    Deque<Entry> merged = new ArrayDeque<>();
    while (reading.hasNext() || other.hasNext()) {
      if (reading.hasNext()) {
        Entry entry = reading.next();
        if (!entry.node().equals(turn)) {
          merged.add(entry);
          continue;
        }
      }
      var swapped = reading;
      reading = other;
      other = swapped;
      turn = turn.equals(parent) ? child : parent;
    }
    return new LocalQueue(merged);
  }

  @Override
  public String toString() {
    return entries.toString();
  }
}
