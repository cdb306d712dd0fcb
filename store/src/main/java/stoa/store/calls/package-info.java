/// What callers say and are told: how a call is made (`Terms`, `Put`), what calls of other stores
/// are (`Visit`, `Neighbors`), and what is told of calls and states.
package stoa.store.calls;
