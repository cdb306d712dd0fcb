/// The command line.
package stoa.cli;
