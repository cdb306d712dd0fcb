/// Locks, queues and barriers, beside those of other servers.
@org.jspecify.annotations.NullMarked
package stoa.bench.coordination;
