package stoa.front.proxy;

/// Every generated proxy class implements this, and no other class does.
public interface ProxyObject {
  /// Returns the content of the proxy.
  Proxied stoaProxied();
}
