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

/// The actions of a simulated run, line by line: a digest of all lines, and the last of them to
/// read.
///
/// Two runs of one seed must have equal digests; if they do not, some part of them has used a
/// clock, a thread or an unordered collection. One owner.
public final class Trace {
  private static final int LINES_MAX = 200;

  private final MessageDigest digest;
  private final Deque<String> last = new ArrayDeque<>();
  private final SortedMap<String, Long> places = new TreeMap<>();
  private final SortedMap<String, List<Long>> measures = new TreeMap<>();
  private long count;

  /// Creates an empty trace.
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

  /// Notes that the run has reached a place worth reaching. A scenario whose runs never reach it
  /// does not test it.
  public void reached(String place) {
    places.merge(place, 1L, Long::sum);
  }

  /// Notes a measurement for readers of the report: nothing judges it.
  ///
  /// @param what with its unit
  public void measured(String what, long value) {
    measures.computeIfAbsent(what, _ -> new ArrayList<>()).add(value);
  }

  /// Returns the measurements, each in the order of their arrival.
  public SortedMap<String, List<Long>> measures() {
    return Collections.unmodifiableSortedMap(measures);
  }

  /// Returns how often the run reached each place.
  public SortedMap<String, Long> places() {
    return Collections.unmodifiableSortedMap(places);
  }

  /// Returns the number of lines.
  public long count() {
    return count;
  }

  /// Returns the last lines, oldest first, at most 200.
  public List<String> last() {
    return List.copyOf(last);
  }

  /// Returns the digest of all lines, in hexadecimal. Ends the trace.
  public String digest() {
    return HexFormat.of().formatHex(digest.digest());
  }
}
