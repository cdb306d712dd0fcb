package stoa.indexes;

import java.util.Map;
import stoa.Snapshot;
import stoa.Stoa;

/// The forms of values in indexes, as maps keep them, for a reader without the classes of the
/// values. Stateless.
public interface HeldForms {
  /// Returns whether indexes of that name are those of a map, see [stoa.spi.Entered#owner].
  boolean isOfMap(String owner);

  /// Returns the forms of the values that are in an index, by the keys as texts.
  Map<String, String> read(Stoa stoa, String owner, String index, Snapshot moment);
}
