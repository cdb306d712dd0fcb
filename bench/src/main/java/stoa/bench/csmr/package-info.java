/// Composed maps (vCorfu, Figures 16 and 17).
package stoa.bench.csmr;
