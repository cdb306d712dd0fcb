/// The types that describe calls: their terms (`Terms`, `Put`), calls of other stores (`Visit`,
/// `Neighbors`), and reports about calls and states.
package stoa.store.calls;
