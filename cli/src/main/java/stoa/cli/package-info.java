/// The command line: `stoa demo`, `stoa help`.
package stoa.cli;
