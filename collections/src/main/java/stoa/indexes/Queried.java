package stoa.indexes;

/// A map over whose entries queries may be asked.
public interface Queried {
  /// Returns what a query needs of the map.
  EntrySource<?, ?> source();
}
