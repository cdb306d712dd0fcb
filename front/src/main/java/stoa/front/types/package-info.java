/// What a shared class is made of: its methods, its constructor, its schema and its keys.
///
/// [stoa.front.types.SharedType] reads a class once, refuses it with the remedy when it cannot be
/// shared, and from then on calls its methods without reflection. Nothing here knows of stores,
/// marshalling or proxies.
package stoa.front.types;
