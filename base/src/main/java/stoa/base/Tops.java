package stoa.base;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Which of very many things happen most often, in bounded memory: the Space-Saving algorithm of
/// Metwally, Agrawal and El Abbadi. Thread-safe, by a lock: for events that are rare.
///
/// A thing that happens more often than all events by the number of places is among those kept. The
/// count of each is too high by at most the count that it took over with its place.
public final class Tops {
  private final int placesMax;

  // Guarded by this.
  private final Map<String, Long> counts = new HashMap<>();
  private long total;

  /// How often something happened.
  ///
  /// @param what the thing
  /// @param count at most so often
  public record Top(String what, long count) {}

  /// Creates one that has seen nothing.
  ///
  /// @param placesMax how many things it keeps
  public Tops(int placesMax) {
    this.placesMax = placesMax;
  }

  /// Counts one.
  public synchronized void count(String what) {
    total++;
    Long known = counts.get(what);
    long taken = 0;
    if (known == null && counts.size() >= placesMax) {
      var rarest = counts.entrySet().stream().min(Map.Entry.comparingByValue()).orElseThrow();
      taken = rarest.getValue();
      counts.remove(rarest.getKey());
    }
    counts.put(what, (known == null ? taken : known) + 1);
  }

  /// Returns how many were counted.
  public synchronized long total() {
    return total;
  }

  /// Returns the most frequent ones, those first.
  public synchronized List<Top> most(int wanted) {
    return counts.entrySet().stream()
        .map(entry -> new Top(entry.getKey(), entry.getValue()))
        .sorted(Comparator.comparingLong(Top::count).reversed().thenComparing(Top::what))
        .limit(wanted)
        .toList();
  }
}
