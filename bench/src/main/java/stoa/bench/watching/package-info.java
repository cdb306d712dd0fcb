/// Calls at a server that is watched, beside calls at one that is not.
@org.jspecify.annotations.NullMarked
package stoa.bench.watching;
