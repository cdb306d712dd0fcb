package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;

/// An item that is part of its workspace's state, and is logged and kept with it.
public final class EmbeddedItem implements Item {
  private final List<ItemVersion> versions = new ArrayList<>();

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
    versions.add(next);
  }
}
