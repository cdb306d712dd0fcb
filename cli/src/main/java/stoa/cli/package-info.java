/// The commands for operators: `stoa serve`, `stoa status`, `stoa help`.
@org.jspecify.annotations.NullMarked
package stoa.cli;
