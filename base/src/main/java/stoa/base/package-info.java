/// What every layer uses: checks, identifiers, encodings, clocks.
package stoa.base;
