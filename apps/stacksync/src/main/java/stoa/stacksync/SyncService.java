package stoa.stacksync;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/// The requests of StackSync, see [Facade]. Repeating a request is harmless.
///
/// Requests throw [NotFound] for ids that were never added, and [NotPermitted] for what the user
/// may not do.
public interface SyncService {
  /// Adds a user.
  ///
  /// @param quotaBytes how much the user's workspaces may hold
  /// @return false when the user had been added before, which is left as it was
  /// @throws NotPermitted when another user has the mail address
  boolean addUser(UUID id, String name, String mail, long quotaBytes);

  /// Adds a device of a user, or changes what is known about it.
  ///
  /// @throws NotPermitted when it belongs to another user
  void addDevice(UUID user, Device device);

  /// Adds an empty workspace, owned by a user.
  ///
  /// @return false when the user had added it before
  /// @throws NotPermitted when it belongs to another user
  boolean addWorkspace(UUID owner, UUID id, String name);

  /// Makes a user a member of a workspace.
  ///
  /// @param owner the caller: only the workspace's owner may
  void shareWorkspace(UUID owner, UUID workspace, UUID user);

  /// Ends a membership.
  ///
  /// @param owner the caller: only the workspace's owner may
  void unshareWorkspace(UUID owner, UUID workspace, UUID user);

  /// Commits what a device changed in a workspace, by the rules of [CommitInfo].
  ///
  /// @return one answer for each change, in their order
  List<CommitInfo> doCommit(UUID user, UUID device, UUID workspace, List<ItemChange> changes);

  /// Moves files with all their versions to another workspace. Each change is the version that
  /// follows the move; it is answered by the rules of [CommitInfo]. Its parent is a folder of the
  /// target. The request is one step: a snapshot sees each file in one of the workspaces, and
  /// quotas add up.
  ///
  /// @return one answer for each change, in their order
  List<CommitInfo> moveItems(UUID user, UUID device, UUID from, UUID to, List<ItemChange> changes);

  /// The workspaces to which a user belongs.
  List<WorkspaceInfo> listWorkspaces(UUID user);

  /// Returns the present items of a workspace, including deleted ones, a page at a time.
  ///
  /// @param user the caller: a member
  /// @param afterItem the last id of the page before; [Long#MIN_VALUE] for the first page
  /// @param itemsMax the size of a page
  List<ItemState> listChanges(UUID user, UUID workspace, long afterItem, int itemsMax);

  /// Returns the items of a workspace that are not deleted, as a tree.
  ///
  /// @param user the caller: a member
  /// @param folder whose contents; [Metadata#ROOT] for everything
  /// @param itemsMax the most items in the answer
  /// @throws NotFound when there is no such folder
  /// @throws IllegalArgumentException when the folder holds more than that
  List<ItemTree> listTree(UUID user, UUID workspace, long folder, int itemsMax);

  /// Returns the service's data about a user; empty when there is no such user.
  Optional<Account> account(UUID user);

  /// The user with a mail address.
  Optional<UUID> userByMail(String mail);
}
