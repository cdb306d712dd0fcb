package stoa.front;

import stoa.front.proxy.Invoker;

/// Where calls go that reach the live object, by one way or another. A proxy that has one may be
/// passed on.
public interface LiveRoute extends Invoker {
  /// The ordinary way, outside of any transaction.
  SharedCall live();
}
