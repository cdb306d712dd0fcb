/// Calls by 1 to 24 callers on 1 to 100 objects, as curves.
@org.jspecify.annotations.NullMarked
package stoa.bench.curves;
