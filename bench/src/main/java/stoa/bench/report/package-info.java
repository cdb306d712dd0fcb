/// The input of a benchmark ([stoa.bench.report.Context]) and its output
/// ([stoa.bench.report.Outcome]): results, as a table or as JSON, and drawings.
package stoa.bench.report;
