package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;

/// The record of what a consumer of changes was told about objects that keep the ids of their
/// calls, and the rules for it. One owner.
public final class ChangeHistory {
  /// A change.
  ///
  /// @param index its place among the changes of its transaction
  /// @param size how many these are
  /// @param id the id of the call
  public record Told(LogAddress at, int index, int size, String object, long version, String id) {}

  private final Map<String, List<String>> ids = new TreeMap<>();
  private final Map<String, Long> versions = new TreeMap<>();
  private final List<Told> open = new ArrayList<>();
  private LogAddress last;

  /// @param begin where the consumer begins
  public ChangeHistory(LogAddress begin) {
    last = begin;
  }

  private ChangeHistory(ChangeHistory other) {
    last = other.last;
    other.ids.forEach((object, list) -> ids.put(object, new ArrayList<>(list)));
    versions.putAll(other.versions);
  }

  /// Returns what a consumer has stored that stores everything at each end of a transaction.
  public ChangeHistory stored() {
    if (!open.isEmpty()) throw new IllegalStateException("a transaction is half read");
    return new ChangeHistory(this);
  }

  /// Returns whether no transaction is half read.
  public boolean isWhole() {
    return open.isEmpty();
  }

  /// Returns the log address up to which the consumer has everything.
  public LogAddress token() {
    return last;
  }

  /// Notes that an object was present at the beginning.
  public void present(String object, long version, List<String> has) {
    Demand.that(!ids.containsKey(object), object + " is shown once as present");
    ids.put(object, new ArrayList<>(has));
    versions.put(object, version);
  }

  /// Notes a change.
  ///
  /// @param before the ids before it; null when the consumer did not ask for states, or the object
  ///   was absent
  /// @param after the ids after it; null when the consumer did not ask
  public void told(Told change, @Nullable List<String> before, @Nullable List<String> after) {
    if (open.isEmpty()) {
      Demand.that(change.at.compareTo(last) > 0, change + " comes behind " + last);
      Demand.that(change.index == 0, change + " begins a transaction");
    } else {
      Told first = open.getFirst();
      Demand.that(
          change.at.equals(first.at) && change.size == first.size && change.index == open.size(),
          change + " goes on with the transaction of " + open.getLast());
    }
    List<String> known = ids.computeIfAbsent(change.object, _ -> new ArrayList<>());
    long version = versions.getOrDefault(change.object, 0L);
    Demand.that(change.version > version, change + " comes behind version " + version);
    Demand.that(
        before == null || before.equals(known),
        change + " comes behind " + before + ", not " + known);
    known.add(change.id);
    Demand.that(
        after == null || after.equals(known), change + " makes " + after + ", not " + known);
    versions.put(change.object, change.version);
    open.add(change);
    if (change.index < change.size - 1) return;
    requireTogether();
    last = change.at;
    open.clear();
  }

  /// Checks that changes with the id of a transaction, one that begins with `x`, come together.
  private void requireTogether() {
    long whole = open.stream().filter(one -> one.id.startsWith("x")).count();
    Demand.that(whole == 0 || whole == 2, open + " is both parts of a transaction");
    Demand.that(
        whole == 0 || open.getFirst().id.equals(open.getLast().id), open + " is one transaction");
  }

  /// Checks that a consumer who has read everything knows everything.
  ///
  /// @param truth the ids in each object
  public void require(Map<String, List<String>> truth) {
    Demand.that(open.isEmpty(), "no transaction is half told: " + open);
    truth.forEach((object, list) -> {
      List<String> known = Objects.requireNonNullElse(ids.get(object), List.of());
      Demand.that(known.equals(list), object + " has " + list + ", and " + known + " was told");
    });
    Demand.that(truth.keySet().containsAll(ids.keySet()), ids.keySet() + " exist");
  }
}
