/// Shared state as callable objects: the programming interface.
///
/// Annotate an ordinary class with [stoa.Shared], open a [stoa.Stoa], and call the object from any
/// process: each call runs where the object lives, in one total order, and is durable when it
/// returns.
package stoa;
