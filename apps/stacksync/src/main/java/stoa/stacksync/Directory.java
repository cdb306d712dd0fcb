package stoa.stacksync;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import stoa.Accessor;
import stoa.Shared;

/// A shared object: one shard of the indexes that all facades have in common.
///
/// An entry lies in the shard that the hash of its key chooses, see [Facade]. Objects are kept by
/// reference. Entries are never changed or removed, which is what lets a facade remember them.
@Shared(name = "stacksync.Directory")
public class Directory {
  private final Map<UUID, User> users = new LinkedHashMap<>();
  private final Map<String, UUID> mails = new LinkedHashMap<>();
  private final Map<UUID, UUID> deviceOwners = new LinkedHashMap<>();
  private final Map<UUID, Workspace> workspaces = new LinkedHashMap<>();

  protected Directory() {}

  /// The user with an id.
  @Accessor
  public Optional<User> user(UUID id) {
    return Optional.ofNullable(users.get(id));
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

  /// The workspace with an id.
  @Accessor
  public Optional<Workspace> workspace(UUID id) {
    return Optional.ofNullable(workspaces.get(id));
  }

  /// Enters a user.
  ///
  /// @return whether the id was free
  public boolean addUser(UUID id, User user) {
    return users.putIfAbsent(id, user) == null;
  }

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

  /// Enters a workspace.
  ///
  /// @return whether the id was free
  public boolean addWorkspace(UUID id, Workspace workspace) {
    return workspaces.putIfAbsent(id, workspace) == null;
  }
}
