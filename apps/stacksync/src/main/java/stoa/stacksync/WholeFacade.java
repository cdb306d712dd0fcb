package stoa.stacksync;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.UUID;
import stoa.Accessor;
import stoa.Shared;

/// A shared object of [Design#FACADE_ALONE]: everything of some users, with the workspaces that
/// they own, and a part of the indexes.
///
/// It calls no other object. A [FacadeRouter] sends it the requests of its users.
@Shared(name = "stacksync.WholeFacade", key = "number")
public class WholeFacade {
  private final int number;
  private final Map<UUID, EmbeddedUser> users = new LinkedHashMap<>();
  private final Map<UUID, Contents> workspaces = new LinkedHashMap<>();
  private final Map<String, UUID> mails = new LinkedHashMap<>();
  private final Map<UUID, UUID> deviceOwners = new LinkedHashMap<>();
  private final Map<UUID, UUID> workspaceOwners = new LinkedHashMap<>();

  /// Begins the facade. Called by the store.
  public WholeFacade(int number) {
    this.number = number;
  }

  // ---- the part of the indexes

  /// Gives a mail address to a user, unless it is taken.
  ///
  /// @return the user who has it now
  public UUID claimMail(String mail, UUID user) {
    mails.putIfAbsent(mail, user);
    return mails.getOrDefault(mail, user);
  }

  /// Gives a device to a user, unless it is taken.
  ///
  /// @return the user who has it now
  public UUID claimDevice(UUID device, UUID user) {
    deviceOwners.putIfAbsent(device, user);
    return deviceOwners.getOrDefault(device, user);
  }

  /// Gives a workspace to a user, unless it is taken.
  ///
  /// @return the user who has it now
  public UUID claimWorkspace(UUID workspace, UUID user) {
    workspaceOwners.putIfAbsent(workspace, user);
    return workspaceOwners.getOrDefault(workspace, user);
  }

  /// The id of the user with a mail address.
  @Accessor
  public Optional<UUID> userByMail(String mail) {
    return Optional.ofNullable(mails.get(mail));
  }

  /// The id of the user to whom a device belongs.
  @Accessor
  public Optional<UUID> deviceOwner(UUID device) {
    return Optional.ofNullable(deviceOwners.get(device));
  }

  /// The id of the user to whom a workspace belongs.
  @Accessor
  public Optional<UUID> workspaceOwner(UUID workspace) {
    return Optional.ofNullable(workspaceOwners.get(workspace));
  }

  // ---- users

  /// Adds a user.
  ///
  /// @return whether the id was free
  public boolean addUser(UUID id, String name, String mail, long quotaBytes) {
    return users.putIfAbsent(id, new EmbeddedUser(id, name, mail, quotaBytes)) == null;
  }

  /// Returns the data about a user; empty when there is no such user here.
  @Accessor
  public Optional<Account> account(UUID user) {
    return Optional.ofNullable(users.get(user)).map(EmbeddedUser::account);
  }

  /// Adds a device, or replaces what is known about it.
  public void addDevice(UUID user, Device device) {
    user(user).add(device);
  }

  /// The workspaces of which a user is a member, with their owners.
  @Accessor
  public Map<UUID, UUID> workspacesOf(UUID user) {
    return user(user).workspaces();
  }

  /// The user became a member of a workspace.
  public void join(UUID user, UUID workspace, UUID owner) {
    user(user).join(workspace, owner);
  }

  /// The user is no longer a member.
  public void leave(UUID user, UUID workspace) {
    user(user).leave(workspace);
  }

  // ---- workspaces of these users

  /// Adds a workspace, of which its owner becomes a member.
  ///
  /// @return whether the id was free
  public boolean addWorkspace(UUID owner, UUID id, String name) {
    boolean added =
        workspaces.putIfAbsent(id, new Contents(id, owner, name, Design.FACADE_ALONE)) == null;
    user(owner).join(id, owner);
    return added;
  }

  /// The ids of the workspaces.
  @Accessor
  public List<UUID> workspaces() {
    return List.copyOf(workspaces.keySet());
  }

  /// Returns the data about a workspace, without its items.
  @Accessor
  public WorkspaceInfo info(UUID workspace) {
    return contents(workspace).info();
  }

  /// Returns whether a user may read and commit in a workspace.
  @Accessor
  public boolean isMember(UUID workspace, UUID user) {
    return contents(workspace).isMember(user);
  }

  /// The items of a workspace, see [Workspace#changes].
  @Accessor
  public List<ItemState> changes(UUID workspace, long afterItem, int itemsMax) {
    return contents(workspace).changes(afterItem, itemsMax);
  }

  /// The items with their versions, see [Workspace#items].
  @Accessor
  public List<ItemHistory> items(UUID workspace, long afterItem, int itemsMax) {
    return contents(workspace).items(afterItem, itemsMax);
  }

  /// The items below a folder, see [SyncService#listTree].
  @Accessor
  public List<ItemTree> tree(UUID workspace, long folder, int itemsMax) {
    return contents(workspace).tree(folder, itemsMax);
  }

  /// Makes a user a member, see [Workspace#admit].
  public void admit(UUID by, UUID workspace, UUID user) {
    contents(workspace).admit(by, user);
  }

  /// Ends a membership, see [Workspace#dismiss].
  public void dismiss(UUID by, UUID workspace, UUID user) {
    contents(workspace).dismiss(by, user);
  }

  /// Commits what a user of this facade changed in a workspace of this facade.
  ///
  /// @return the answers; empty when the user, the device or the workspace is not here
  public Optional<List<CommitInfo>> commitOwn(
      UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    var author = users.get(user);
    if (author == null || !author.has(device) || !workspaces.containsKey(workspace)) {
      return Optional.empty();
    }
    return Optional.of(commit(user, device, workspace, changes));
  }

  /// Commits changes in a workspace, see [Workspace#commit].
  public List<CommitInfo> commit(UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    var contents = contents(workspace);
    return contents.commit(owner(contents), user, device, changes);
  }

  /// Lets files go to another workspace, see [Place#release].
  public Departure release(UUID workspace, UUID user, List<ItemChange> changes) {
    var contents = contents(workspace);
    return contents.release(owner(contents), user, changes);
  }

  /// Takes files in, see [Place#adopt].
  public Arrival adopt(
      UUID workspace, UUID device, SequencedMap<Long, Item> arriving, List<ItemChange> changes) {
    var contents = contents(workspace);
    return contents.adopt(owner(contents), device, arriving, changes);
  }

  /// Takes files back, see [Place#restore].
  public void restore(UUID workspace, SequencedMap<Long, Item> returning) {
    var contents = contents(workspace);
    contents.restore(owner(contents), returning);
  }

  private Purse owner(Contents contents) {
    return user(contents.ownerId());
  }

  private EmbeddedUser user(UUID id) {
    var found = users.get(id);
    if (found == null) throw new NotFound("there is no user " + id + "; addUser adds one");
    return found;
  }

  private Contents contents(UUID id) {
    var found = workspaces.get(id);
    if (found == null)
      throw new NotFound("there is no workspace " + id + "; addWorkspace adds one");
    return found;
  }

  @Override
  public String toString() {
    return "facade " + number;
  }
}
