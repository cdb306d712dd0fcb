package stoa.stacksync;

/// A device in the list of a [User]: a value there, or a shared object to which the user refers,
/// see [Design].
public sealed interface UserDevice permits Device, SharedDevice {
  /// Returns the data about the device.
  Device device();
}
