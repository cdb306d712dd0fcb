/// The common part of this repository's programs: their command line, child processes, directories.
@org.jspecify.annotations.NullMarked
package stoa.programs;
