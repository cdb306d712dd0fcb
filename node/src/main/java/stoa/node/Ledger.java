package stoa.node;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.wire.proto.Answer;

/// Which requests of a session have arrived, and what those were answered whose answers the client
/// has not acknowledged (CRESON, section III-D: a call that is made again is not executed again).
///
/// One owner calls it. It does no I/O and reads no clock.
final class Ledger {
  /*
   * Invariants:
   * (1) Every sequence that arrived is at or below floor, or in lines, or in a range of ahead.
   * (2) A line without an answer is of a request that is under way, or of one whose answer was acknowledged before that
   *     of an earlier request.
   */
  private static final int UNDER_WAY = 0;
  private static final int ANSWERED = 1;

  private static final class Line {
    private final int contents;
    private int state = UNDER_WAY;
    private @Nullable Answer answer;

    private Line(int contents) {
      this.contents = contents;
    }
  }

  /// What is to be done with a request.
  sealed interface Verdict {
    /// Execute it.
    record Run() implements Verdict {}

    /// Send its answer again.
    ///
    /// @param answer what it was answered
    record Again(Answer answer) implements Verdict {}

    /// Nothing: it is under way, or the client has its answer.
    record Ignore() implements Verdict {}

    /// Break off: the client's numbers make no sense.
    ///
    /// @param reason why
    record Refuse(String reason) implements Verdict {}
  }

  private static final Verdict RUN = new Verdict.Run();
  private static final Verdict IGNORE = new Verdict.Ignore();

  private final int linesMax;
  private final Map<Long, Line> lines = new HashMap<>();
  private long floor;
  private int underWay;
  private long bytes;

  // What was acknowledged ahead of floor: disjoint ranges, first to last. There are at most as
  // many as there are lines, and one more.
  private final java.util.TreeMap<Long, Long> ahead = new java.util.TreeMap<>();

  /// @param linesMax how many requests may be under way or not acknowledged
  Ledger(int linesMax) {
    this.linesMax = linesMax;
  }

  /// How many requests are under way.
  int underWay() {
    return underWay;
  }

  /// The bytes of the answers that are kept.
  long bytes() {
    return bytes;
  }

  /// A request has arrived.
  ///
  /// @param contents a hash of what it asks
  Verdict arrives(long sequence, int contents) {
    if (sequence <= 0) return new Verdict.Refuse("request " + sequence + ": sequences begin at 1");
    if (sequence <= floor || isAhead(sequence)) return IGNORE;
    Line known = lines.get(sequence);
    if (known == null) {
      if (lines.size() >= linesMax || ahead.size() > linesMax) {
        return new Verdict.Refuse(
            "more than " + linesMax + " requests are not acknowledged; acknowledge answers");
      }
      lines.put(sequence, new Line(contents));
      underWay++;
      return RUN;
    }
    if (known.contents != contents) {
      return new Verdict.Refuse("request " + sequence + " came again with other contents");
    }
    Answer answer = known.answer;
    return answer == null ? IGNORE : new Verdict.Again(answer);
  }

  /// A request was answered that [#arrives] said to run.
  void answered(Answer answer) {
    underWay--;
    Line line = lines.get(answer.getSequence());
    if (line == null) return; // acknowledged beforehand: its own harm
    line.state = ANSWERED;
    line.answer = answer;
    bytes += answer.getSerializedSize();
  }

  /// The client has all answers up to a sequence.
  void acknowledged(long upTo) {
    if (upTo <= floor) return;
    if (upTo - floor <= linesMax) {
      for (long sequence = floor + 1; sequence <= upTo; sequence++) {
        Line line = lines.remove(sequence);
        if (line != null) drop(line);
      }
    } else {
      lines
          .entrySet()
          .removeIf(entry -> {
            if (entry.getKey() > upTo) return false;
            drop(entry.getValue());
            return true;
          });
    }
    floor = upTo;
    while (!ahead.isEmpty() && ahead.firstEntry().getValue() <= floor) ahead.pollFirstEntry();
  }

  private boolean isAhead(long sequence) {
    var range = ahead.floorEntry(sequence);
    return range != null && sequence <= range.getValue();
  }

  /// The client has one answer more.
  void acknowledgedAlso(long sequence) {
    Line line = lines.get(sequence);
    if (line == null || line.state == UNDER_WAY) return;
    drop(line);
    lines.remove(sequence);
    // A call that lasts keeps the floor down: what is done behind it takes no line.
    long first = sequence;
    long last = sequence;
    var before = ahead.lowerEntry(sequence);
    if (before != null && before.getValue() == sequence - 1) first = before.getKey();
    Long after = ahead.remove(sequence + 1);
    if (after != null) last = after;
    ahead.put(first, last);
  }

  private void drop(Line line) {
    Answer answer = line.answer;
    if (answer == null) return;
    bytes -= answer.getSerializedSize();
    line.answer = null;
  }
}
