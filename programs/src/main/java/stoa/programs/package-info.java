/// What the programs of this repository share: their command line, child processes, directories.
@org.jspecify.annotations.NullMarked
package stoa.programs;
