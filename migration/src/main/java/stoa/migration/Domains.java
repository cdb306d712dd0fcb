package stoa.migration;

import stoa.front.PlacedStore;
import stoa.front.Placing;
import stoa.migration.core.TreeNode;
import stoa.migration.core.TreeNode.Retrieval;

/// Begins the tree of a domain when the first of its objects is called.
public final class Domains implements Placing.Provider {
  /// For [java.util.ServiceLoader].
  public Domains() {}

  @Override
  public Placing.Root begin(PlacedStore store, String domain, int before) {
    return new Domain(
        store,
        domain,
        before,
        store.clock(),
        new TreeNode.Settings(Domain.FAN_OUT, Retrieval.ONE_BY_ONE));
  }
}
