package stoa.objects;

import stoa.front.proxy.Invoker;

/// Where calls go that reach the live object, by one way or another. A proxy that has one may be
/// passed on.
interface LiveRoute extends Invoker {
  /// The ordinary way, outside of any transaction.
  LiveInvoker live();
}
