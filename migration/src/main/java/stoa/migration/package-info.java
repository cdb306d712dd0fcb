/// Objects that migrate to their clients: the protocol of [stoa.migration.core] with threads, links
/// and a store.
@org.jspecify.annotations.NullMarked
package stoa.migration;
