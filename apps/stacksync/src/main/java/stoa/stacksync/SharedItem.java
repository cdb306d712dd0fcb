package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.Mutator;
import stoa.Shared;

/// A shared object: an item by itself, with a history of its own.
///
/// It calls no other object. Its key says nothing: the workspace that creates it draws one.
@Shared(name = "stacksync.Item")
public non-sealed class SharedItem implements Item {
  private final List<ItemVersion> versions = new ArrayList<>();

  protected SharedItem() {}

  @Override
  @Accessor
  public ItemVersion latest() {
    return versions.getLast();
  }

  @Override
  @Accessor
  public ItemVersion version(int number) {
    return versions.get(number - 1);
  }

  @Override
  @Accessor
  public List<ItemVersion> versions() {
    return List.copyOf(versions);
  }

  @Override
  @Mutator
  public void add(ItemVersion next) {
    versions.add(next);
  }
}
