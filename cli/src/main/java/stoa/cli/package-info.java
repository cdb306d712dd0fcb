/// The command line: `stoa demo`, `stoa help`.
@org.jspecify.annotations.NullMarked
package stoa.cli;
