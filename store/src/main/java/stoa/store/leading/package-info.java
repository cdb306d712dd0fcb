/// Which thread leads a batch, whether the store can be used, what can be read, and how much may be
/// under way.
package stoa.store.leading;
