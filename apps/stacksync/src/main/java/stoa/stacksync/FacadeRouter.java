package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.UUID;
import java.util.stream.IntStream;
import stoa.Stoa;

/// The service in [Design#FACADE_ALONE]: sends each request to the [WholeFacade] that has its user
/// and its workspace, in one call if that is the same.
///
/// A user is at the facade that the hash of the id chooses, as a shard of a database would be; a
/// workspace is at its owner's. Requests that concern several facades are several calls, which
/// repeating completes. A move between workspaces is one transaction.
///
/// Thread-safe.
public final class FacadeRouter implements SyncService {
  /// How many facades a store has.
  public static final int FACADES = 64;

  private final Stoa store;
  private final List<WholeFacade> facades;

  FacadeRouter(Stoa store) {
    this.store = store;
    facades = IntStream.range(0, FACADES).mapToObj(i -> store.get(WholeFacade.class, i)).toList();
  }

  @Override
  public boolean addUser(UUID id, String name, String mail, long quotaBytes) {
    if (home(id).account(id).isPresent()) return false;
    var holder = home(mail).claimMail(mail, id);
    if (!holder.equals(id)) {
      throw new NotPermitted("the mail address " + mail + " belongs to user " + holder);
    }
    return home(id).addUser(id, name, mail, quotaBytes);
  }

  @Override
  public void addDevice(UUID user, Device device) {
    requireUser(user);
    var holder = home(device.id()).claimDevice(device.id(), user);
    if (!holder.equals(user)) {
      throw new NotPermitted("device " + device.id() + " belongs to user " + holder);
    }
    home(user).addDevice(user, device);
  }

  @Override
  public boolean addWorkspace(UUID owner, UUID id, String name) {
    requireUser(owner);
    var holder = home(id).claimWorkspace(id, owner);
    if (!holder.equals(owner)) {
      throw new NotPermitted("workspace " + id + " belongs to user " + holder + ", not " + owner);
    }
    return home(owner).addWorkspace(owner, id, name);
  }

  @Override
  public void shareWorkspace(UUID owner, UUID workspace, UUID user) {
    requireUser(user);
    var holder = owner(workspace);
    home(holder).admit(owner, workspace, user);
    home(user).join(user, workspace, holder);
  }

  @Override
  public void unshareWorkspace(UUID owner, UUID workspace, UUID user) {
    requireUser(user);
    home(owner(workspace)).dismiss(owner, workspace, user);
    home(user).leave(user, workspace);
  }

  @Override
  public List<CommitInfo> doCommit(
      UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    var own = home(user).commitOwn(user, device, workspace, changes);
    if (own.isPresent()) return own.get();
    requireDevice(user, device);
    return home(owner(workspace)).commit(user, device, workspace, changes);
  }

  @Override
  public List<CommitInfo> moveItems(
      UUID user, UUID device, UUID from, UUID to, List<ItemChange> changes) {
    Moves.check(from, to, changes);
    return store.transact(() -> {
      requireDevice(user, device);
      var source = new PlaceAtFacade(home(owner(from)), from);
      var target = new PlaceAtFacade(home(owner(to)), to);
      requireMember(user, to);
      return Moves.move(user, device, source, target, changes);
    });
  }

  /// A workspace at its facade.
  private record PlaceAtFacade(WholeFacade facade, UUID workspace) implements Place {
    @Override
    public Departure release(UUID user, List<ItemChange> changes) {
      return facade.release(workspace, user, changes);
    }

    @Override
    public Arrival adopt(UUID device, SequencedMap<Long, Item> arriving, List<ItemChange> changes) {
      return facade.adopt(workspace, device, arriving, changes);
    }

    @Override
    public void restore(SequencedMap<Long, Item> returning) {
      facade.restore(workspace, returning);
    }
  }

  @Override
  public List<WorkspaceInfo> listWorkspaces(UUID user) {
    var workspaces = new ArrayList<WorkspaceInfo>();
    home(user)
        .workspacesOf(user)
        .forEach((workspace, owner) -> workspaces.add(home(owner).info(workspace)));
    return workspaces;
  }

  @Override
  public List<ItemState> listChanges(UUID user, UUID workspace, long afterItem, int itemsMax) {
    requireMember(user, workspace);
    return home(owner(workspace)).changes(workspace, afterItem, itemsMax);
  }

  @Override
  public List<ItemTree> listTree(UUID user, UUID workspace, long folder, int itemsMax) {
    requireMember(user, workspace);
    return home(owner(workspace)).tree(workspace, folder, itemsMax);
  }

  @Override
  public Optional<Account> account(UUID user) {
    return home(user).account(user);
  }

  @Override
  public Optional<UUID> userByMail(String mail) {
    return home(mail).userByMail(mail);
  }

  private void requireUser(UUID user) {
    if (home(user).account(user).isPresent()) return;
    throw new NotFound("there is no user " + user + "; addUser adds one");
  }

  private void requireDevice(UUID user, UUID device) {
    var holder = home(device).deviceOwner(device);
    if (holder.isEmpty()) {
      throw new NotFound("there is no device " + device + "; addDevice adds one");
    }
    if (!holder.get().equals(user)) {
      throw new NotPermitted(
          "device " + device + " belongs to user " + holder.get() + ", not " + user);
    }
  }

  private void requireMember(UUID user, UUID workspace) {
    if (home(owner(workspace)).isMember(workspace, user)) return;
    throw new NotPermitted("user " + user + " is not a member of workspace " + workspace);
  }

  private UUID owner(UUID workspace) {
    return home(workspace)
        .workspaceOwner(workspace)
        .orElseThrow(
            () -> new NotFound("there is no workspace " + workspace + "; addWorkspace adds one"));
  }

  /// The facade that has a user, and the index entries of a mail address, device or workspace.
  private WholeFacade home(Object key) {
    return facades.get(Math.floorMod(key.hashCode(), FACADES));
  }
}
