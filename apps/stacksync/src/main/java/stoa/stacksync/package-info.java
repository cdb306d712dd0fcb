/// StackSync, the personal cloud of the AOF and CRESON papers, on shared objects.
///
/// A user's devices keep folders, called workspaces, in step. A device sends what changed to
/// [stoa.stacksync.Facade], which answers for each change whether it is the next version of its
/// item or came too late. This is the metadata half of the service: contents are chunks named by
/// fingerprints and live elsewhere.
///
/// Shared objects are [stoa.stacksync.Facade], [stoa.stacksync.User], [stoa.stacksync.Workspace]
/// and [stoa.stacksync.Directory]. Items and devices are values inside them, or shared objects by
/// themselves: the two designs of section IV of the CRESON paper, see [stoa.stacksync.Design].
/// Calls go one way:
///
/// ```
///   client ──► Facade ──┬──► Directory   who and what exists, by id and by mail; in shards
///                       ├──► User        devices, workspaces, quota
///                       └──► Workspace   items, their versions and chunks
///                                └──► User    the owner, who is charged for what the items hold
/// ```
///
/// A commit of any number of items is two calls, Facade and Workspace, and a third to the owner
/// when sizes change; where items are shared objects, two more for each item. Items are files; a
/// folder is there as long as a path leads through it.
package stoa.stacksync;
