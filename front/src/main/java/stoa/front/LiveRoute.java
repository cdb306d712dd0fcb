package stoa.front;

import stoa.front.proxy.Invoker;

/// A route of calls that reach the live object. A proxy with such a route may be an argument.
public interface LiveRoute extends Invoker {
  /// Returns the ordinary route, outside of any transaction.
  SharedCall live();
}
