package stoa.sim.world;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/// Objects that each refer to a next one, such that all of them are one ring.
///
/// Transactions take an object out of the ring and put it in elsewhere, which changes three
/// references. A reader of all references at one moment must find one ring with all objects: half a
/// transaction, or two that did not see each other, leave a tail, two rings or an object outside.
/// Immutable.
public final class Ring {
  private final NavigableMap<String, String> next;

  private Ring(NavigableMap<String, String> next) {
    this.next = next;
  }

  /// Returns a ring of objects in which each refers to the next, and the last one to the first.
  ///
  /// @throws IllegalArgumentException when there are none, or one of them twice
  public static Ring of(List<String> objects) {
    var next = new TreeMap<String, String>();
    for (int i = 0; i < objects.size(); i++) {
      next.put(objects.get(i), objects.get((i + 1) % objects.size()));
    }
    if (next.isEmpty() || next.size() < objects.size()) {
      throw new IllegalArgumentException(objects + " are not one or more different objects");
    }
    return new Ring(next);
  }

  /// Returns the references, by the referring object.
  public Map<String, String> references() {
    return Collections.unmodifiableMap(next);
  }

  /// Returns the references that change when a transaction takes `moved` out and puts it in after
  /// `target`; none when it is there already, or is the target itself.
  public Map<String, String> move(String moved, String target) {
    if (moved.equals(target) || moved.equals(next.get(target))) return Map.of();
    String before = moved;
    while (!moved.equals(next.get(before))) before = after(before);
    return new TreeMap<>(Map.of(before, after(moved), moved, after(target), target, moved));
  }

  private String after(String object) {
    String after = next.get(object);
    if (after == null) throw new IllegalArgumentException(object + " is not in " + next.keySet());
    return after;
  }

  /// Returns what is wrong with references that a client has read; empty when they make one ring of
  /// all objects of this one.
  public Optional<String> problem(Map<String, String> references) {
    if (!references.keySet().equals(next.keySet())) {
      return Optional.of(
          "the objects are " + new TreeSet<>(references.keySet()) + ", not " + next.keySet());
    }
    var visited = new LinkedHashSet<String>();
    String first = next.firstKey();
    String at = first;
    while (visited.add(at)) {
      String to = references.get(at);
      if (to == null || !next.containsKey(to)) {
        return Optional.of(at + " refers to " + to + ", which is none of the objects");
      }
      at = to;
    }
    if (!at.equals(first)) {
      return Optional.of(
          "the way from %s does not come back: %s, then %s".formatted(first, visited, at));
    }
    if (visited.size() < next.size()) {
      var outside = new ArrayList<>(next.keySet());
      outside.removeAll(visited);
      return Optional.of("the ring %s lacks %s".formatted(visited, outside));
    }
    return Optional.empty();
  }

  /// Throws unless the references make one ring of all objects of this one.
  ///
  /// @return that ring
  /// @throws AssertionError with the error
  public Ring require(Map<String, String> references) {
    problem(references)
        .ifPresent(problem -> {
          throw new AssertionError("no ring: " + problem);
        });
    return new Ring(new TreeMap<>(references));
  }
}
