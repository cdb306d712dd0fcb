/// What versions of code cost.
@org.jspecify.annotations.NullMarked
package stoa.bench.code;
