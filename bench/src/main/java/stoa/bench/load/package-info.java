/// Callers that a benchmark runs, the latencies they see, and the samples of several rounds.
package stoa.bench.load;
