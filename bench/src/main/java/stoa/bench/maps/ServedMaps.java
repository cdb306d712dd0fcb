package stoa.bench.maps;

import java.util.List;

/// Maps of servers, beside which `./stoa bench records` measures the key-value store. Found with
/// `ServiceLoader`.
public interface ServedMaps {
  /// Returns the maps. Each starts its servers in processes of their own.
  List<MapContender> contenders();
}
