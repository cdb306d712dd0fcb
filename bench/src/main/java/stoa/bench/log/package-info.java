/// The materialized log beside other logs (vCorfu, Figures 7 to 11).
package stoa.bench.log;
