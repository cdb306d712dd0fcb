package stoa.stacksync;

import java.util.UUID;

/// A workspace in a list.
///
/// @param id unique in the service
/// @param name its name, chosen by its owner
/// @param owner the user whose quota it uses
/// @param memberCount how many users commit to it, the owner included
/// @param itemCount how many items it has, the deleted ones included
public record WorkspaceInfo(UUID id, String name, UUID owner, int memberCount, int itemCount) {}
