package stoa.client;

import stoa.front.proxy.Invoker;

/// Where calls on the object as it is now go, in one way or another.
interface RemoteRoute extends Invoker {
  /// The ordinary way.
  RemoteInvoker live();
}
