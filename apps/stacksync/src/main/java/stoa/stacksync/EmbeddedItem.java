package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;

/// An item that is part of its workspace's state, and is logged and kept with it.
public final class EmbeddedItem implements Item {
  // Most items have one version, for which a fixed list takes a third of the memory.
  private List<ItemVersion> versions = List.of();

  /// An item without a version, which is given its first one next.
  EmbeddedItem() {}

  @Override
  public ItemVersion latest() {
    return versions.getLast();
  }

  @Override
  public ItemVersion version(int number) {
    return versions.get(number - 1);
  }

  @Override
  public List<ItemVersion> versions() {
    return List.copyOf(versions);
  }

  @Override
  public void add(ItemVersion next) {
    if (versions.isEmpty()) {
      versions = List.of(next);
      return;
    }
    if (versions.size() == 1) versions = new ArrayList<>(versions);
    versions.add(next);
  }
}
