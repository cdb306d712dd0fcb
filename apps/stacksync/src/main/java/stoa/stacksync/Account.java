package stoa.stacksync;

import java.util.List;
import java.util.UUID;

/// What the service knows about a user.
///
/// @param id unique in the service
/// @param name what the user is called
/// @param mail the address, unique in the service
/// @param quota what the workspaces that the user owns hold, and may hold
/// @param devices in the order in which they were added
public record Account(UUID id, String name, String mail, Quota quota, List<Device> devices) {}
