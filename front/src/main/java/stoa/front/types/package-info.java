/// The parts of a shared class: its methods, its constructor, its schema and its keys.
///
/// [stoa.front.types.SharedType] reads a class once, refuses it with the remedy when it cannot be
/// shared, and from then on calls its methods without reflection. This package is independent of
/// stores, marshalling and proxies.
package stoa.front.types;
