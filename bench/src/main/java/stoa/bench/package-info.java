/// Benchmarks, each beside its physical limit.
///
/// A [Benchmark] measures something and, in the same run and round by round with it, the limit that
/// the machine sets. What it answers is a list of [Result]s, shown as a table or written as JSON by
/// [Report].
package stoa.bench;
