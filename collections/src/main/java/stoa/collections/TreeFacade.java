package stoa.collections;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.SharedBTree;
import stoa.Stoa;
import stoa.spi.Facade;

/// The implementation of [SharedBTree].
final class TreeFacade<K, V> extends NavigableView<K, V> implements SharedBTree<K, V>, Facade {
  private final NodeObject root;
  private final TreeEntries nodes;

  private TreeFacade(
      Stoa stoa, Class<K> keys, Class<V> values, NodeObject root, TreeEntries nodes) {
    super(stoa, keys, values, nodes, null);
    this.root = root;
    this.nodes = nodes;
  }

  static <K, V> TreeFacade<K, V> of(Stoa stoa, Class<K> keys, Class<V> values, NodeObject root) {
    String name = NodeKey.tree((String) stoa.ref(root).key());
    var nodes = new TreeEntries(ConsistentAccess.live(stoa), name, root);
    return new TreeFacade<>(stoa, keys, values, root, nodes);
  }

  @Override
  public int height() {
    return nodes.height();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return nodes.access().read(() -> super.equals(other));
  }

  @Override
  public int hashCode() {
    return nodes.access().read(super::hashCode);
  }

  @Override
  public Object shared() {
    return root;
  }

  @Override
  public String form() {
    return Form.of(Form.Kind.TREE, keys, values);
  }

  @Override
  public Facade through(UnaryOperator<Object> lens) {
    return new TreeFacade<>(stoa, keys, values, root, nodes.through(lens));
  }

  /// Returns the same collection through local or cached views.
  ///
  /// @param view returns the view of an object
  Facade copied(UnaryOperator<Object> view) {
    return new TreeFacade<>(stoa, keys, values, root, nodes.copied(view));
  }

  @Override
  public boolean isSingle() {
    return false;
  }
}
