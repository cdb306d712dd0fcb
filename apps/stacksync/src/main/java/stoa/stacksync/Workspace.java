package stoa.stacksync;

import java.util.List;
import java.util.SequencedMap;
import java.util.UUID;
import stoa.Accessor;
import stoa.Shared;

/// A shared object: a workspace, which its members keep in step, with all versions of all its
/// items.
///
/// It calls its owner, to charge for what the items hold, and its items where these are shared
/// objects. Requests come from a [Facade], which has checked that the device belongs to the user.
@Shared(name = "stacksync.Workspace", key = "id")
public class Workspace implements Place {
  private final UUID id;
  private final User owner;
  private final Contents contents;

  /// Begins the workspace. Called by the store, and by `new` in woven code.
  public Workspace(UUID id, UUID ownerId, User owner, String name, Design design) {
    this.id = id;
    this.owner = owner;
    contents = new Contents(id, ownerId, name, design);
  }

  /// Returns the data about the workspace, without its items.
  @Accessor
  public WorkspaceInfo info() {
    return contents.info();
  }

  /// Returns whether a user may read and commit here.
  @Accessor
  public boolean isMember(UUID user) {
    return contents.isMember(user);
  }

  /// The items as they are now, by id, a page at a time.
  ///
  /// @param afterItem the last id of the page before; [Long#MIN_VALUE] for the first page
  /// @param itemsMax the size of a page
  @Accessor
  public List<ItemState> changes(long afterItem, int itemsMax) {
    return contents.changes(afterItem, itemsMax);
  }

  /// The items with all their versions, paged as [#changes].
  @Accessor
  public List<ItemHistory> items(long afterItem, int itemsMax) {
    return contents.items(afterItem, itemsMax);
  }

  /// The items below a folder, see [SyncService#listTree].
  @Accessor
  public List<ItemTree> tree(long folder, int itemsMax) {
    return contents.tree(folder, itemsMax);
  }

  /// Makes a user a member.
  ///
  /// @param by the caller: only the owner may
  public void admit(UUID by, UUID user) {
    contents.admit(by, user);
  }

  /// Ends a membership. The member's commits stay.
  ///
  /// @param by the caller: only the owner may
  public void dismiss(UUID by, UUID user) {
    contents.dismiss(by, user);
  }

  /// Commits changes by the rules of [CommitInfo], each for itself.
  ///
  /// @return one answer for each change, in their order
  public List<CommitInfo> commit(UUID user, UUID device, List<ItemChange> changes) {
    return contents.commit(owner, user, device, changes);
  }

  @Override
  public Departure release(UUID user, List<ItemChange> changes) {
    return contents.release(owner, user, changes);
  }

  @Override
  public Arrival adopt(UUID device, SequencedMap<Long, Item> arriving, List<ItemChange> changes) {
    return contents.adopt(owner, device, arriving, changes);
  }

  @Override
  public void restore(SequencedMap<Long, Item> returning) {
    contents.restore(owner, returning);
  }

  @Override
  public String toString() {
    return "workspace " + id;
  }
}
