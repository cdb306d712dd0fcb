package stoa.sim;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// What a simulated run did, line by line: a digest over all lines, and the last of them to read.
///
/// Two runs of one seed must have equal digests; if they do not, something in them looked at a
/// clock, a thread or an unordered collection. One owner.
public final class Trace {
  private static final int LINES_MAX = 200;

  private final MessageDigest digest;
  private final Deque<String> last = new ArrayDeque<>();
  private final SortedMap<String, Long> places = new TreeMap<>();
  private final SortedMap<String, List<Long>> measures = new TreeMap<>();
  private long count;

  /// An empty trace.
  public Trace() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /// Adds a line.
  public void add(String line) {
    digest.update(line.getBytes(StandardCharsets.UTF_8));
    digest.update((byte) '\n');
    count++;
    if (last.size() == LINES_MAX) last.removeFirst();
    last.addLast(line);
  }

  /// Notes that the run has come to a place worth reaching. A scenario whose runs never come there
  /// does not test it.
  public void reached(String place) {
    places.merge(place, 1L, Long::sum);
  }

  /// Notes what the run has measured, for those who read the report: nothing judges it.
  ///
  /// @param what with its unit
  public void measured(String what, long value) {
    measures.computeIfAbsent(what, _ -> new ArrayList<>()).add(value);
  }

  /// What was measured, in the order in which it was.
  public SortedMap<String, List<Long>> measures() {
    return Collections.unmodifiableSortedMap(measures);
  }

  /// How often each place was reached.
  public SortedMap<String, Long> places() {
    return Collections.unmodifiableSortedMap(places);
  }

  /// How many lines there are.
  public long count() {
    return count;
  }

  /// The last lines, oldest first, at most 200.
  public List<String> last() {
    return List.copyOf(last);
  }

  /// The digest of all lines, in hexadecimal. Ends the trace.
  public String digest() {
    return HexFormat.of().formatHex(digest.digest());
  }
}
