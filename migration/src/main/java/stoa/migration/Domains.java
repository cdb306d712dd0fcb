package stoa.migration;

import stoa.base.Clock;
import stoa.migration.core.TreeNode;
import stoa.migration.core.TreeNode.Retrieval;
import stoa.objects.PlacedStore;
import stoa.objects.Placing;

/// Begins the tree of a store when its first client-placed object is called.
public final class Domains implements Placing.Provider {
  private static final int CHILDREN_MAX = 5;

  /// For [java.util.ServiceLoader].
  public Domains() {}

  @Override
  public Placing begin(PlacedStore store, int before) {
    return new Domain(
        store, before, Clock.system(), new TreeNode.Settings(CHILDREN_MAX, Retrieval.ONE_BY_ONE));
  }
}
