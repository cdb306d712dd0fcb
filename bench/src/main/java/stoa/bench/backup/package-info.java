/// Measures backups: what callers notice, and how fast a store is restored.
@org.jspecify.annotations.NullMarked
package stoa.bench.backup;
