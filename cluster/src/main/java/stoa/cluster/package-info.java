/// Several servers as one store: which of them leads, who joins and who leaves.
///
/// Each server has a replica of the log. The one that leads has the store, too, and clients find it
/// by asking any of them.
@org.jspecify.annotations.NullMarked
package stoa.cluster;
