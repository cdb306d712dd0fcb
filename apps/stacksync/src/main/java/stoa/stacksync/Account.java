package stoa.stacksync;

import java.util.List;
import java.util.UUID;

/// The service's data about a user.
///
/// @param id unique in the service
/// @param name the name of the user
/// @param mail the address, unique in the service
/// @param quota the used and permitted bytes of the user's own workspaces
/// @param devices in the order in which they were added
public record Account(UUID id, String name, String mail, Quota quota, List<Device> devices) {}
