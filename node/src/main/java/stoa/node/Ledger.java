package stoa.node;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.wire.proto.Answer;

/// The requests of a session that have arrived, and the answers that the client has not
/// acknowledged (CRESON, section III-D: a repeated call does not execute again).
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

  /// The handling of a request.
  sealed interface Verdict {
    /// Execute it.
    record Run() implements Verdict {}

    /// Send its answer again.
    ///
    /// @param answer the answer
    record Again(Answer answer) implements Verdict {}

    /// Do nothing: it is in progress, or the client has its answer.
    record Ignore() implements Verdict {}

    /// Break off: the client's numbers are invalid.
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

  // Acknowledged sequences above floor: disjoint ranges, first to last. There are at most one more
  // than lines.
  private final java.util.TreeMap<Long, Long> ahead = new java.util.TreeMap<>();

  /// Creates a ledger.
  ///
  /// @param linesMax how many requests may be in progress or unacknowledged
  Ledger(int linesMax) {
    this.linesMax = linesMax;
  }

  /// Returns how many requests are in progress.
  int underWay() {
    return underWay;
  }

  /// Returns the bytes of the kept answers.
  long bytes() {
    return bytes;
  }

  /// Records that a request has arrived.
  ///
  /// @param contents a hash of the request
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

  /// Records the answer of a request that [#arrives] said to run.
  void answered(Answer answer) {
    underWay--;
    Line line = lines.get(answer.getSequence());
    if (line == null) return; // the client acknowledged the answer before it came, and lacks it now
    line.state = ANSWERED;
    line.answer = answer;
    bytes += answer.getSerializedSize();
  }

  /// Records that the client has all answers up to a sequence.
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

  /// Records that the client has one more answer.
  void acknowledgedAlso(long sequence) {
    Line line = lines.get(sequence);
    if (line == null || line.state == UNDER_WAY) return;
    drop(line);
    lines.remove(sequence);
    // A long call keeps the floor down: finished requests above it take no line.
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
