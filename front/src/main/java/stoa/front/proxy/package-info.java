/// Proxies: the objects that callers hold in place of shared objects.
///
/// A proxy is an instance of a generated subclass of the shared class, created without running a
/// constructor. Every method that a caller could reach goes to an [stoa.front.proxy.Invoker];
/// nothing ever runs on the proxy's own, empty fields.
package stoa.front.proxy;
