/// Benchmarks, each beside its physical limit.
///
/// A [Benchmark] measures something and, in the same run and round by round with it, the limit that
/// the machine sets. What it answers is an [Outcome]: [Result]s, which [Report] shows as a table or
/// writes as JSON, and drawings.
package stoa.bench;
