/// Benchmarks, each beside its physical limit.
package stoa.bench;
