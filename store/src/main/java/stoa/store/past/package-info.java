/// The past of keys. `Playback` shows keys as they were (`Past`), `Versions` keeps states of the
/// past in memory, and `Retention` releases entries that no reader holds (`Holds`, `Pins`).
///
/// Layers above the store use `Past`, `Pins` and `LocalView`; the rest is public for the other
/// packages of this module alone, and names types of packages that the module does not export.
package stoa.store.past;
