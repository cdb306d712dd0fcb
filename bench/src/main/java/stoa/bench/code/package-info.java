/// Measures the cost of versions of code.
@org.jspecify.annotations.NullMarked
package stoa.bench.code;
