/// The listenable key-value store: a put is an append to the key's stream, and handlers run where
/// the key lives.
package stoa.store;
