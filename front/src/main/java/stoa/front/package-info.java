/// The objects that programs hold in place of shared objects, and the caller's side of their calls,
/// wherever the store is.
package stoa.front;
