/// What a benchmark is given ([stoa.bench.report.Context]) and what it answers
/// ([stoa.bench.report.Outcome]): results, as a table or as JSON, and drawings.
package stoa.bench.report;
