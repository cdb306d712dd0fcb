package stoa.store.batches;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.base.Footprint;
import stoa.base.StreamId;
import stoa.store.records.Draft;
import stoa.store.records.StreamEnd;
import stoa.store.running.CommitRequest;
import stoa.store.running.Request;

/// Orders the commits of a batch so that few of them conflict.
///
/// A transaction that has read what another one of the same batch writes comes before that one.
/// Then both commit, unless each has read what the other one writes. Any order of the commits is
/// one in which they may happen, since none of their callers has an answer yet. A commit does not
/// pass a request of another kind. The batch writer owns it.
final class Arrangement {
  // In place of a part: all of a key, and any part of it.
  private static final long WHOLE = -1L;
  private static final long ANY = -2L;

  // The most commits and pairs of them at which it looks. Beyond, the order is that of the arrival.
  private static final int COMMITS_MAX = 512;
  private static final int PAIRS_MAX = 4_096;

  // The last mark that an end of a stream got. Marks begin anew when they overflow: one of long ago
  // may then be taken for one of this batch, which only costs time.
  private int marks;

  /// A part of a key, or [#WHOLE] or [#ANY].
  private record Place(StreamId stream, long part) {}

  /// A commit that changes a place.
  private record Writer(int number, Footprint change) {}

  /// Arranges the commits among the requests of a batch.
  void arrange(List<Request> requests) {
    int from = 0;
    for (int i = 0; i <= requests.size(); i++) {
      if (i < requests.size() && requests.get(i) instanceof CommitRequest) continue;
      if (i - from > 1) arrange(requests, from, i);
      from = i + 1;
    }
  }

  private void arrange(List<Request> requests, int from, int to) {
    var commits = new ArrayList<Draft.Changes>(to - from);
    for (Request request : requests.subList(from, to)) {
      commits.add(((CommitRequest) request).transaction.changes());
    }
    if (!meet(commits)) return;
    int[] order = order(commits);
    if (order.length == 0) return;
    var before = List.copyOf(requests.subList(from, to));
    for (int i = 0; i < order.length; i++) requests.set(from + i, before.get(order[i]));
  }

  /// Returns whether a transaction has used a key that another one changes. Most batches end here.
  boolean meet(List<? extends Draft.Changes> commits) {
    int none = marks;
    for (Draft.Changes commit : commits) {
      marks++;
      for (Draft.Change change : commit.changes()) {
        int before = change.end().mark(marks);
        if (before - none > 0 && before != marks) return true;
      }
    }
    int own = none;
    for (Draft.Changes commit : commits) {
      own++;
      for (StreamEnd end : commit.touched()) {
        if (end.mark() - none > 0 && end.mark() != own) return true;
      }
    }
    return false;
  }

  /// Returns the numbers of transactions in the order in which they should commit; empty for the
  /// order in which they are.
  static int[] order(List<? extends Draft.Changes> commits) {
    if (commits.size() > COMMITS_MAX) return new int[0];
    Map<Place, List<Writer>> writers = writers(commits);
    // For each transaction those that must come behind it.
    var behind = new ArrayList<Set<Integer>>(commits.size());
    boolean turned = false;
    int pairs = 0;
    for (int i = 0; i < commits.size(); i++) {
      Set<Integer> later = later(i, commits.get(i), writers);
      behind.add(later);
      pairs += later.size();
      if (pairs > PAIRS_MAX) return new int[0];
      for (int one : later) turned |= one < i;
    }
    return turned ? sorted(behind) : new int[0];
  }

  private static Map<Place, List<Writer>> writers(List<? extends Draft.Changes> commits) {
    var writers = new HashMap<Place, List<Writer>>();
    for (int i = 0; i < commits.size(); i++) {
      for (Draft.Change change : commits.get(i).changes()) {
        StreamId stream = change.end().key.stream();
        Footprint part = change.footprint();
        var writer = new Writer(i, part);
        add(writers, new Place(stream, part.keyed() ? part.part() & 0xffffffffL : WHOLE), writer);
        add(writers, new Place(stream, ANY), writer);
      }
    }
    return writers;
  }

  private static void add(Map<Place, List<Writer>> writers, Place place, Writer writer) {
    writers.computeIfAbsent(place, _ -> new ArrayList<>(1)).add(writer);
  }

  /// Returns those whose changes conflict with what a transaction has used.
  private static Set<Integer> later(
      int number, Draft.Changes transaction, Map<Place, List<Writer>> writers) {
    var later = new HashSet<Integer>(0);
    for (StreamEnd end : transaction.touched()) {
      StreamId stream = end.key.stream();
      Collection<Footprint> parts = transaction.footprints(end);
      if (parts.isEmpty()) {
        add(later, number, null, writers.get(new Place(stream, ANY)));
        continue;
      }
      for (Footprint part : parts) {
        if (part.keyed()) {
          var place = new Place(stream, part.part() & 0xffffffffL);
          add(later, number, part, writers.get(place));
          add(later, number, part, writers.get(new Place(stream, WHOLE)));
        } else {
          add(later, number, part, writers.get(new Place(stream, ANY)));
        }
      }
    }
    return later;
  }

  private static void add(
      Set<Integer> later, int number, @Nullable Footprint used, @Nullable List<Writer> writers) {
    if (writers == null) return;
    for (Writer writer : writers) {
      if (writer.number == number) continue;
      boolean commute = used != null && used.commuting() && writer.change.commuting();
      if (!commute) later.add(writer.number);
    }
  }

  /// Sorts so that each comes before those behind it, as far as that is possible; otherwise in the
  /// order of the numbers.
  private static int[] sorted(List<Set<Integer>> behind) {
    int count = behind.size();
    var inFront = new int[count];
    for (Set<Integer> later : behind) for (int one : later) inFront[one]++;
    var taken = new boolean[count];
    var order = new int[count];
    for (int i = 0; i < count; i++) {
      int next = -1;
      for (int one = 0; one < count && (next < 0 || inFront[next] > 0); one++) {
        if (!taken[one] && (next < 0 || inFront[one] < inFront[next])) next = one;
      }
      taken[next] = true;
      order[i] = next;
      for (int later : behind.get(next)) inFront[later]--;
    }
    return order;
  }
}
