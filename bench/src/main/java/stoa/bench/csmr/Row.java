package stoa.bench.csmr;

import java.util.Map;
import java.util.TreeMap;
import stoa.Accessor;
import stoa.Shared;

/// The shared object that is one record of YCSB.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.csmr.Row")
public class Row {
  private final Map<String, byte[]> fields = new TreeMap<>();

  protected Row() {}

  /// Replaces some fields, or adds them.
  public void put(Map<String, byte[]> some) {
    fields.putAll(some);
  }

  /// Returns all fields.
  @Accessor
  public Map<String, byte[]> fields() {
    return fields;
  }

  /// The fields of a record in the form of a value.
  ///
  /// @param all by their names
  public record Fields(Map<String, byte[]> all) {}
}
