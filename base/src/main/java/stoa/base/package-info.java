/// The tools of every layer: checks, identifiers, encodings, clocks.
package stoa.base;
