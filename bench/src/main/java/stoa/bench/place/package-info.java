/// The kinds of stores on which the same measurements run.
@org.jspecify.annotations.NullMarked
package stoa.bench.place;
