/// Charts as SVG documents.
package stoa.bench.plot;
