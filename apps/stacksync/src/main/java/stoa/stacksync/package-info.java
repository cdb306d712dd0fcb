/// StackSync, the personal cloud of the AOF and CRESON papers, on shared objects.
///
/// A user's devices keep folders, called workspaces, in step. A device sends what changed to
/// [stoa.stacksync.Facade], which answers for each change whether it is the next version of its
/// item or came too late. This is the metadata half of the service: contents are chunks named by
/// fingerprints and live elsewhere.
///
/// Which objects are shared is a choice, see [stoa.stacksync.Design]: everything; or
/// [stoa.stacksync.Facade], [stoa.stacksync.User], [stoa.stacksync.Workspace] and
/// [stoa.stacksync.Directory], with items and devices as values inside them; or
/// [stoa.stacksync.WholeFacade] alone. [stoa.stacksync.Services] opens the service. Calls go one
/// way:
///
/// ```
///   client ──► Facade ──┬──► Directory   who and what exists, by id and by mail; in shards
///                       ├──► User        devices, workspaces, quota
///                       └──► Workspace   items, their versions and chunks
///                                └──► User    the owner, who is charged for what the items hold
/// ```
///
/// A commit of any number of items is two calls, Facade and Workspace, and a third to the owner
/// when sizes change. Where everything is shared, each item is two more, and each chunk one; with
/// facades alone, all of it is one call. Items are files and folders, which form a tree.
package stoa.stacksync;
