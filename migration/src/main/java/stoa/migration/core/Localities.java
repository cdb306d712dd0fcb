package stoa.migration.core;

import java.util.Collection;
import java.util.Comparator;
import java.util.SortedSet;
import java.util.TreeSet;
import stoa.Locality;

/// The localities of a node's subtree, as it reports them. Stateless.
final class Localities {
  private Localities() {}

  /// Returns the localities of a node and its descendants. When there are too many, leaves out the
  /// narrowest names, as many as necessary: for some the report then says only the rack, for
  /// example.
  static SortedSet<Locality> of(Locality own, Collection<SortedSet<Locality>> below) {
    SortedSet<Locality> all = new TreeSet<>();
    for (var each : below) all.addAll(each);
    all.add(own);
    all.remove(Locality.UNKNOWN);
    while (all.size() > Message.Depth.LOCALITIES_MAX) {
      int longest = all.stream().mapToInt(each -> each.names().size()).max().orElseThrow();
      if (longest == 1) all.remove(all.last());
      else all = cut(all, longest - 1);
    }
    return all;
  }

  private static SortedSet<Locality> cut(SortedSet<Locality> all, int names) {
    SortedSet<Locality> shorter = new TreeSet<>();
    for (var each : all) {
      int left = Math.min(names, each.names().size());
      shorter.add(new Locality(each.names().subList(0, left)));
    }
    return shorter;
  }

  /// Returns how near the nearest of them is: the number of shared names.
  static int nearness(SortedSet<Locality> some, Locality to) {
    return some.stream().map(to::shared).max(Comparator.naturalOrder()).orElse(0);
  }
}
