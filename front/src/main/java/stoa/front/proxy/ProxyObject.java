package stoa.front.proxy;

/// Implemented by every generated proxy class, and by nothing else.
public interface ProxyObject {
  /// What the proxy stands for.
  Proxied stoaProxied();
}
