package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.Call;
import stoa.Mutator;
import stoa.Shared;

/// A shared object: an item by itself, whose versions are shared objects, too.
///
/// It calls its versions. Its key says nothing: the workspace that creates it draws one.
@Shared(name = "stacksync.Item")
public non-sealed class SharedItem implements Item {
  private final List<SharedVersion> versions = new ArrayList<>();

  protected SharedItem() {}

  @Override
  @Accessor
  public ItemVersion latest() {
    return versions.getLast().version();
  }

  @Override
  @Accessor
  public ItemVersion version(int number) {
    return versions.get(number - 1).version();
  }

  @Override
  @Accessor
  public List<ItemVersion> versions() {
    return versions.stream().map(SharedVersion::version).toList();
  }

  @Override
  @Mutator
  public void add(ItemVersion next) {
    var version = Call.get(SharedVersion.class, Call.uuid());
    version.write(next);
    versions.add(version);
  }
}
