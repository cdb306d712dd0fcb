package stoa.sim.check;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import stoa.base.Check;

/// The search for an order of the calls of one part of a history. One owner; used once.
final class Search<S, I, O> {
  /*
   * A depth-first search over partial orders: a frame holds the calls placed so far, in order, with
   * the state they lead to, and tries each call that may come next.
   *
   * Calls are *certain* (they answered, and must be placed) or *doubtful* (pending or lost, and may
   * be left out). Call b may be placed next iff
   *   (1) no certain call that is not placed was over before b began, and
   *   (2) b was not over before some placed call began. For certain calls (2) follows from (1).
   * The search ends well when every certain call is placed.
   *
   * (3) What can follow a frame depends on the *set* of placed calls and on the state only, since
   *     (1) and (2) do. So a pair that was seen before is not entered again (Lowe).
   * (4) Certain calls are tried before doubtful ones; of doubtful calls with the same input and the
   *     same end only the one that began first is tried: where another would do, it does too.
   *
   * The certain calls that are not placed form a linked list in the order in which they began
   * (next, previous; index 0 is its head), so that a frame costs what is concurrent, not what is
   * past.
   */
  enum Result {
    FOUND,
    IMPOSSIBLE,
    GAVE_UP
  }

  private final Model<S, I, O> model;
  private final List<Operation<I, O>> certain;
  private final List<Operation<I, O>> doubtful;
  private final int[] next;
  private final int[] previous;
  private final BitSet placedCertain = new BitSet();
  private final BitSet placedDoubtful = new BitSet();
  private int certainLeft;
  private long stepsLeft;

  private final Deque<Frame> frames = new ArrayDeque<>();
  private final Set<Position> seen = new HashSet<>();

  Search(Model<S, I, O> model, List<Operation<I, O>> operations, long stepsMax) {
    this.model = model;
    this.certain = operations.stream().filter(Operation::certain).toList();
    this.doubtful = operations.stream().filter(operation -> !operation.certain()).toList();
    this.certainLeft = certain.size();
    this.stepsLeft = stepsMax;
    next = new int[certain.size() + 1];
    previous = new int[certain.size() + 1];
    for (int i = 0; i <= certain.size(); i++) {
      next[i] = i == certain.size() ? 0 : i + 1;
      previous[i] = i == 0 ? certain.size() : i - 1;
    }
  }

  Result run() {
    Check.that(frames.isEmpty(), "a search runs once");
    frames.push(new Frame(model.initial(), -1, -1));
    while (certainLeft > 0) {
      Frame top = frames.element();
      if (!top.advance()) {
        frames.pop();
        if (frames.isEmpty()) return Result.IMPOSSIBLE;
        undo(top.placed);
        continue;
      }
      if (stepsLeft < 0) return Result.GAVE_UP;
      int choice = top.choice();
      S state = top.following();
      place(choice);
      if (seen.add(seenNow(state))) {
        frames.push(new Frame(state, choice, Math.max(top.lastBegan, operation(choice).began())));
      } else {
        undo(choice);
      }
    }
    return Result.FOUND;
  }

  /// Returns the order found, oldest first.
  List<Operation<I, O>> order() {
    List<Operation<I, O>> order = new ArrayList<>();
    frames
        .descendingIterator()
        .forEachRemaining(frame -> {
          if (frame.placed >= 0) order.add(operation(frame.placed));
        });
    return order;
  }

  /// Returns the state after the order found.
  S state() {
    return frames.element().state;
  }

  /// Returns the operation of a choice; choices number the certain calls first, then the doubtful
  /// ones.
  private Operation<I, O> operation(int choice) {
    return choice < certain.size() ? certain.get(choice) : doubtful.get(choice - certain.size());
  }

  private void place(int choice) {
    if (choice >= certain.size()) {
      placedDoubtful.set(choice - certain.size());
      return;
    }
    placedCertain.set(choice);
    int link = choice + 1;
    next[previous[link]] = next[link];
    previous[next[link]] = previous[link];
    certainLeft--;
  }

  /// Undoes the latest place, so the links of the call still name its neighbours.
  private void undo(int choice) {
    if (choice >= certain.size()) {
      placedDoubtful.clear(choice - certain.size());
      return;
    }
    placedCertain.clear(choice);
    int link = choice + 1;
    next[previous[link]] = link;
    previous[next[link]] = link;
    certainLeft++;
  }

  /// Returns the calls that may come next, by (1), (2) and (4).
  private int[] choices(long lastBegan) {
    int[] choices = new int[8];
    int count = 0;
    long firstOver = Long.MAX_VALUE;
    for (int link = next[0]; link != 0; link = next[link]) {
      Operation<I, O> operation = certain.get(link - 1);
      if (operation.began() > firstOver) break;
      if (count == choices.length) choices = Arrays.copyOf(choices, count * 2);
      choices[count++] = link - 1;
      firstOver = Math.min(firstOver, operation.over());
    }
    int doubtfulFrom = count;
    for (int i = placedDoubtful.nextClearBit(0);
        i < doubtful.size();
        i = placedDoubtful.nextClearBit(i + 1)) {
      Operation<I, O> operation = doubtful.get(i);
      if (operation.began() > firstOver) break;
      if (operation.over() < lastBegan) continue;
      if (sameAsEarlier(operation, choices, doubtfulFrom, count)) continue;
      if (count == choices.length) choices = Arrays.copyOf(choices, count * 2);
      choices[count++] = certain.size() + i;
    }
    return Arrays.copyOf(choices, count);
  }

  private boolean sameAsEarlier(Operation<I, O> operation, int[] choices, int from, int to) {
    for (int i = from; i < to; i++) {
      var earlier = operation(choices[i]);
      if (earlier.over() == operation.over() && earlier.input().equals(operation.input())) {
        return true;
      }
    }
    return false;
  }

  private Position seenNow(S state) {
    int from = placedCertain.nextClearBit(0);
    BitSet beyond = placedCertain.get(from, Math.max(from, placedCertain.length()));
    return new Position(from, beyond, (BitSet) placedDoubtful.clone(), state);
  }

  /// A set of placed calls, all certain ones below `from` and `beyond` above it, and a state.
  private record Position(int from, BitSet beyond, BitSet doubtful, Object state) {}

  private final class Frame {
    private final S state;
    // The choice that created this frame; -1 in the first one.
    private final int placed;
    // The latest beginning among the placed calls; -1 when there is none.
    private final long lastBegan;
    private final int[] choices;
    private int at = -1;
    private List<S> followings = List.of();
    private int following = -1;

    Frame(S state, int placed, long lastBegan) {
      this.state = state;
      this.placed = placed;
      this.lastBegan = lastBegan;
      this.choices = choices(lastBegan);
    }

    /// Moves to the next pair of a choice and a state that may follow it.
    boolean advance() {
      following++;
      while (following >= followings.size()) {
        if (++at >= choices.length) return false;
        stepsLeft--;
        var operation = operation(choices[at]);
        followings =
            switch (operation.end()) {
              case Operation.Answered<O>(O output) -> model.step(state, operation.input(), output);
              case Operation.Unseen<O> _, Operation.Pending<O> _ ->
                  model.stepUnseen(state, operation.input());
            };
        following = 0;
      }
      return true;
    }

    int choice() {
      return choices[at];
    }

    S following() {
      return followings.get(following);
    }
  }
}
