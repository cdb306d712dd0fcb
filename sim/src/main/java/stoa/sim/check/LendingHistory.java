package stoa.sim.check;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The calls on a lent list that only grows, as clients saw them. Decides whether the durable calls
/// have one order, which agrees with time, and happened once. One owner.
public final class LendingHistory {
  /*
   * An update is unique, and answers all elements up to itself. So the list at the end is the order
   * of the durable updates, and each answer is a beginning of it: the length of an answer
   * determines its place.
   */

  public LendingHistory() {}

  /// Calls of a client that may still be lost.
  public static final class Span {
    private boolean done;
    private boolean seen;

    public Span() {}

    /// Notes that all its updates and reads are durable.
    public void flushed() {
      done = true;
      seen = true;
    }

    /// Notes that all its updates are durable.
    public void left() {
      done = true;
    }
  }

  /// A call.
  public final class Call {
    private final String name;
    private final @Nullable String element;
    private final long began = ++time;
    private long ended = Long.MAX_VALUE;
    private @Nullable List<String> answer;
    private @Nullable Span span;
    private boolean refused;

    private Call(String name, @Nullable String element) {
      this.name = name;
      this.element = element;
    }

    /// Notes the answer.
    ///
    /// @param until the calls that last if this one does; null when it lasts in any case
    public void answered(List<String> all, @Nullable Span until) {
      answer = List.copyOf(all);
      span = until;
      ended = ++time;
    }

    /// Notes that it certainly has not happened, and will not.
    void refused() {
      refused = true;
    }

    private boolean isDurable(Set<String> there) {
      var of = span;
      if (of == null || of.seen) return true;
      return element != null && (of.done || there.contains(element));
    }

    @Override
    public String toString() {
      return name + (element == null ? " read" : " added " + element) + " and saw " + answer;
    }
  }

  private final List<Call> calls = new ArrayList<>();
  private long time;

  /// Begins a call.
  ///
  /// @param element the element that it adds; null when it only reads
  public Call begin(String name, @Nullable String element) {
    var call = new Call(name, element);
    calls.add(call);
    return call;
  }

  /// Throws when the history breaks a rule.
  ///
  /// @param end the list when nothing happens any more
  public void require(List<String> end) {
    var there = new HashSet<>(end);
    Demand.that(there.size() == end.size(), "nothing happens twice: " + end);
    var begun = new HashSet<String>();
    for (var call : calls) {
      if (call.element != null && !call.refused) begun.add(call.element);
    }
    Demand.that(begun.containsAll(there), "only calls add something: " + end);
    long before = 0;
    List<Call> durable = new ArrayList<>();
    for (var call : calls) {
      if (call.answer == null || !call.isDurable(there)) continue;
      verifyPlace(call, call.answer, end);
      durable.add(call);
    }
    durable.sort((one, other) -> Long.compare(one.ended, other.ended));
    var byBegin = new ArrayList<>(durable);
    byBegin.sort((one, other) -> Long.compare(one.began, other.began));
    int next = 0;
    for (var call : byBegin) {
      for (; next < durable.size() && durable.get(next).ended < call.began; next++) {
        before = Math.max(before, size(durable.get(next)));
      }
      Demand.that(
          size(call) >= before + (call.element == null ? 0 : 1),
          call + " after others had seen " + before);
    }
  }

  private static int size(Call call) {
    var answer = call.answer;
    return answer == null ? 0 : answer.size();
  }

  private static void verifyPlace(Call call, List<String> answer, List<String> end) {
    Demand.that(
        answer.size() <= end.size() && end.subList(0, answer.size()).equals(answer),
        call + ", which is durable, and no beginning of " + end);
    Demand.that(
        call.element == null || call.element.equals(answer.getLast()),
        call + " has added it at the end");
  }
}
