package stoa.front.proxy;

import org.jspecify.annotations.Nullable;
import stoa.front.types.SharedMethod;

/// The route of the calls on a proxy.
///
/// Implementations are thread-safe, as proxies are.
@FunctionalInterface
public interface Invoker {
  /// Makes one call.
  ///
  /// @param arguments one for each parameter, boxed where primitive; a new array that the invoker
  ///   may keep
  /// @return the answer, boxed where the method returns a primitive; ignored when it returns
  ///   nothing
  /// @throws Throwable reaches the caller as it is, checked or not
  @Nullable Object invoke(Proxied proxy, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;
}
