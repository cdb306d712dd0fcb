/// Indexes and queries: finds, predicates over the network, and what indexes cost writers.
@org.jspecify.annotations.NullMarked
package stoa.bench.indexes;
